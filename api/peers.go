package api

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/user"
	"strconv"
	"sync"

	"tollgate/gate"
)

// peers is a listener that knows whose each connection is, and lets one user
// hold maxPerPeer of them at most, so that a runaway client cannot take the
// last one. What it says to the log it says once of each user.
type peers struct {
	net.Listener
	log      *slog.Logger
	accounts accounts

	mu   sync.Mutex
	held map[string]int     // connections, by actor id
	said map[[2]string]bool // what, and of whom
}

func newPeers(l net.Listener, log *slog.Logger) *peers {
	return &peers{Listener: l, log: log, accounts: accounts{lookup: lookUp}, held: map[string]int{}, said: map[[2]string]bool{}}
}

// Accept returns the next connection of a user who may have one more. The
// others are closed.
func (l *peers) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := peerOf(c)
		if err != nil {
			l.warn("a connection is closed: the kernel does not tell whose it is", "", err)
			_ = c.Close() // nothing has been read from it
			continue
		}
		who, err := l.peer(uid)
		if err != nil {
			l.warn("names of a user could not be looked up: they give no role", who.Actor.ID, err)
		}
		if !l.take(who.Actor.ID) {
			l.warn("a connection is closed: its user has as many as one may have", who.Actor.ID, nil)
			_ = c.Close() // nothing has been read from it
			continue
		}
		return &peerConn{Conn: c, peer: who, gone: sync.OnceFunc(func() { l.leave(who.Actor.ID) })}, nil
	}
}

// peer returns the peer with a user id. A user without a name is known by the
// id alone. With an error it is the peer as far as its names are known.
func (l *peers) peer(uid uint32) (peer, error) {
	id := strconv.FormatUint(uint64(uid), 10)
	p := peer{Actor: gate.Actor{ID: "uid:" + id, Source: "peer-uid"}, own: int(uid) == os.Getuid()}
	names, err := l.accounts.names(id)
	if len(names) > 0 {
		p.Actor.Name = names[0]
	}
	p.names, p.part = names, err != nil
	return p, err
}

func (l *peers) take(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[id] >= maxPerPeer {
		return false
	}
	l.held[id]++
	return true
}

func (l *peers) leave(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[id]--; l.held[id] <= 0 {
		delete(l.held, id)
	}
}

func (l *peers) warn(what, who string, err error) {
	l.mu.Lock()
	said := l.said[[2]string{what, who}]
	l.said[[2]string{what, who}] = true
	l.mu.Unlock()
	if said {
		return
	}
	args := []any{"user", who}
	if err != nil {
		args = append(args, "error", oneLine(err.Error()))
	}
	l.log.Warn(what, args...)
}

// peerConn is a connection of which it is known whose it is.
type peerConn struct {
	net.Conn
	peer peer
	gone func()
}

// Close implements net.Conn.
func (c *peerConn) Close() error {
	c.gone()
	return c.Conn.Close()
}

// peerOf asks the kernel for the user at the other end of a Unix socket.
func peerOf(c net.Conn) (uint32, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, net.ErrClosed
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	var uid uint32
	var inner error
	if err := raw.Control(func(fd uintptr) { uid, inner = peerUID(int(fd)) }); err != nil {
		return 0, err
	}
	return uid, inner
}

// accounts knows the names of users. The same few call over and over, so what
// has been looked up is kept until the process ends: a change of a user's
// groups counts after a restart. A lookup that failed is not kept. Safe for
// concurrent use.
type accounts struct {
	lookup func(id string) ([]string, error)
	known  sync.Map // user id → []string
}

// names returns a user's name and those of the groups, the user's first; none
// for a user who has no name. With an error it is what could be looked up.
func (a *accounts) names(id string) ([]string, error) {
	if known, ok := a.known.Load(id); ok {
		names, _ := known.([]string)
		return names, nil
	}
	names, err := a.lookup(id)
	if err == nil {
		a.known.Store(id, names)
	}
	return names, err
}

// lookUp asks the operating system for the names of a user and of the groups.
// That one has no name is no error.
func lookUp(id string) ([]string, error) {
	u, err := user.LookupId(id)
	var nobody user.UnknownUserIdError
	if errors.As(err, &nobody) || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := []string{u.Username}
	ids, err := u.GroupIds()
	if err != nil {
		return names, err
	}
	var failed []error
	for _, gid := range ids {
		g, err := user.LookupGroupId(gid)
		var unnamed user.UnknownGroupIdError
		switch {
		case err == nil:
			names = append(names, g.Name)
		case !errors.As(err, &unnamed):
			failed = append(failed, err)
		}
	}
	return names, errors.Join(failed...)
}
