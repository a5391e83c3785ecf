package gate

// CodeSource names the table that listed a code.
type CodeSource string

// The tables, in the order in which they are looked at (R-C1).
const (
	FromTool       CodeSource = "tool"
	FromDependency CodeSource = "dependency"
	FromPolicy     CodeSource = "policy"
	FromContract   CodeSource = "contract"
	FromGate       CodeSource = "gate" // no_report, which no table may take over
	FromNowhere    CodeSource = ""     // unlisted
)

// Classify looks a code up: the tool's own codes, its dependency's, the
// policy's table, the contract's. A code that none lists has class unknown,
// is not refused, and stops. The message is not looked at.
//
// Source: [A4], [B], R-C1, R-C5.
func (c *Contract) Classify(p *Policy, tool *Tool, code Code) (CodeRule, CodeSource) {
	if code == NoReport {
		return CodeRule{Class: ClassTransient}, FromGate
	}
	if r, ok := tool.Codes[code]; ok {
		return r, FromTool
	}
	if r, ok := c.Dependencies[tool.Dependency].Codes[code]; ok {
		return r, FromDependency
	}
	if r, ok := p.Codes[code]; ok {
		return r, FromPolicy
	}
	if r, ok := c.Codes[code]; ok {
		return r, FromContract
	}
	return CodeRule{}, FromNowhere
}
