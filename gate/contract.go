package gate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"
)

// Contract is what the gate decides by: policies, codes, dependencies and the
// catalog of tools. It is immutable once a Door has it. Its digest stands in
// every decision, and its document is a ledger record when first used.
type Contract struct {
	Policies     map[string]*Policy        `json:"policies"`        // "starter" is always there
	Codes        map[Code]CodeRule         `json:"codes,omitempty"` // looked up last (R-C1)
	Dependencies map[string]DependencyRule `json:"dependencies,omitempty"`
	Tools        map[string]*Tool          `json:"tools,omitempty"`
	Roles        Roles                     `json:"roles"`
	ClaimLease   time.Duration             `json:"claim_lease"` // R-P7; 1s to 24h, 15 minutes unless said
}

// DependencyRule is what a contract says of one shared downstream.
type DependencyRule struct {
	Breaker *BreakerRule      `json:"breaker,omitempty"` // over the policy's (R-K1)
	Codes   map[Code]CodeRule `json:"codes,omitempty"`   // R-C1
	HTTP    []HTTPRule        `json:"http,omitempty"`    // in order; the first that matches names the code (R-C2)
	Runbook string            `json:"runbook,omitempty"` // a URL template: {key} {op} {run} {code}
}

// HTTPRule maps one kind of HTTP answer to a code. Empty parts match all.
type HTTPRule struct {
	Status       int    `json:"status,omitempty"`
	ProviderCode string `json:"provider_code,omitempty"` // the body's own code
	Header       string `json:"header,omitempty"`        // present, "Name", or "Name: value"
	Code         Code   `json:"code"`
}

// Roles names who may do what on the socket, by user or group name.
type Roles struct {
	Agent    []string `json:"agent,omitempty"`
	Operator []string `json:"operator,omitempty"`
	Auditor  []string `json:"auditor,omitempty"`
}

// StarterName is the name of the built-in policy.
const StarterName = "starter"

// NewContract returns the contract that is in force without a file: the
// starter policy and an empty catalog.
func NewContract() *Contract {
	return &Contract{Policies: map[string]*Policy{StarterName: Starter()}, ClaimLease: 15 * time.Minute}
}

// Document returns the contract as it is stored: JSON with sorted keys.
func (c *Contract) Document() ([]byte, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("contract as a document: %w", err)
	}
	return b, nil
}

// ParseContract reads a document that Document wrote.
func ParseContract(doc []byte) (*Contract, error) {
	c := new(Contract)
	if err := json.Unmarshal(doc, c); err != nil {
		return nil, fmt.Errorf("contract document: %w", err)
	}
	return c, nil
}

// DocumentDigest returns the digest of a stored document.
func DocumentDigest(doc []byte) Digest { return Digest(sha256.Sum256(doc)) }

// Policy returns the policy that a run names; the empty name is the starter.
// It fails with ErrNoPolicy.
func (c *Contract) Policy(name string) (*Policy, error) {
	p, ok := c.Policies[policyName(name)]
	if !ok {
		return nil, fmt.Errorf("policy %q: %w", name, ErrNoPolicy)
	}
	return p, nil
}

// Tool returns the catalog's entry. It fails with ErrUnknownTool.
func (c *Contract) Tool(name string) (*Tool, error) {
	t, ok := c.Tools[name]
	if !ok {
		return nil, fmt.Errorf("tool %q: %w", name, ErrUnknownTool)
	}
	return t, nil
}

// Breaker returns the rule of a dependency under a policy, nil for none.
func (c *Contract) Breaker(p *Policy, dependency string) *BreakerRule {
	if d, ok := c.Dependencies[dependency]; ok && d.Breaker != nil {
		return d.Breaker
	}
	return p.Breaker
}
