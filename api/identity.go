package api

import (
	"context"
	"net"
	"slices"
	"strings"

	"tollgate/gate"
)

// Role is what an identity may do on the socket (R-P10).
type Role string

// The roles. Every one of them may read.
const (
	RoleAgent    Role = "agent"    // start, ask, report, end
	RoleOperator Role = "operator" // the verbs of a person; start and end
	RoleAuditor  Role = "auditor"  // nothing but reading
)

// peer is who is at the other end of a connection, as the kernel says.
type peer struct {
	Actor gate.Actor
	names []string // user and groups, for the contract's roles
	own   bool     // the user of this process
	part  bool     // some of the names could not be looked up
}

// roles returns what the contract lets a peer do. Without any roles in it, and
// for the user who owns the store and is in no list, that is everything: who
// owns the file could write it without asking. A name that could not be looked
// up gives no role, and takes none of the others away.
func (p peer) roles(r gate.Roles) []Role {
	if len(r.Agent)+len(r.Operator)+len(r.Auditor) == 0 {
		return []Role{RoleAgent, RoleOperator, RoleAuditor}
	}
	var out []Role
	for _, list := range [...]struct {
		role  Role
		names []string
	}{{RoleAgent, r.Agent}, {RoleOperator, r.Operator}, {RoleAuditor, r.Auditor}} {
		if slices.ContainsFunc(p.names, func(n string) bool { return slices.Contains(list.names, n) }) {
			out = append(out, list.role)
		}
	}
	if len(out) == 0 && p.own && !p.part {
		return []Role{RoleAgent, RoleOperator, RoleAuditor}
	}
	return out
}

// forbidden says why a peer may not make a call, empty if it may. A call that
// needs no role in particular is open to whoever has one.
func (p peer) forbidden(has, needs []Role, call string) string {
	if len(needs) == 0 && len(has) > 0 || slices.ContainsFunc(needs, func(r Role) bool { return slices.Contains(has, r) }) {
		return ""
	}
	who, roles := p.Actor.ID, "no role in the contract"
	if p.Actor.Name != "" {
		who += " (" + p.Actor.Name + ")"
	}
	if len(has) > 0 {
		roles = "the role " + join(has, " and ")
	}
	if p.part {
		roles += ", as far as names could be looked up"
	}
	need := "one"
	if len(needs) > 0 {
		need = join(needs, " or ")
	}
	return who + " has " + roles + "; " + call + " needs " + need
}

func join(roles []Role, with string) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, with)
}

type peerKey struct{}

// withPeer puts the peer of a connection into the context of its requests.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if pc, ok := c.(*peerConn); ok {
		return context.WithValue(ctx, peerKey{}, pc.peer)
	}
	return ctx
}

// peerIn returns the peer of a request. The zero peer has no id and no role.
func peerIn(ctx context.Context) peer {
	p, _ := ctx.Value(peerKey{}).(peer)
	return p
}
