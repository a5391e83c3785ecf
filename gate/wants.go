package gate

import (
	"slices"
)

// Wants implements Command: a contract is decided on nothing.
func (Adopt) Wants(*Contract) (Want, error) { return Want{}, nil }

// Wants implements Command: the run.
func (c Start) Wants(*Contract) (Want, error) { return Want{Run: c.Run}, nil }

// Wants implements Command: the run, the operation, its parent and the tool's
// dependency.
// It fails with ErrUnknownTool, naming the tool, when the catalog lacks it and
// the operation has no name by which an earlier answer could be found (R-A5,
// R-A8).
func (c Ask) Wants(k *Contract) (Want, error) {
	w := Want{Run: c.Run, Op: c.Op, Said: c.ID, Parent: c.Parent}
	tool, err := k.Tool(c.Tool)
	switch {
	case err != nil && c.Op != "":
		return w, nil
	case err != nil:
		return Want{}, err
	}
	w.Depends = []string{tool.Dependency}
	if c.Op == "" {
		digest, err := c.request(tool)
		if err != nil {
			return Want{}, err
		}
		w.Derived = Derived{c.Tool, digest}
	}
	return w, nil
}

// Wants implements Command: the operation, its line and its dependency.
func (c Report) Wants(*Contract) (Want, error) {
	return Want{Run: c.Run, Op: c.Op, Line: true, Ordinal: c.Ordinal}, nil
}

// Wants implements Command: the operation, its line and its dependency.
func (c Sweep) Wants(*Contract) (Want, error) { return Want{Run: c.Run, Op: c.Op, Line: true}, nil }

// Wants implements Command: the run.
func (c End) Wants(*Contract) (Want, error) { return Want{Run: c.Run}, nil }

// Wants implements Command: the item's operation; for a new-run every operation
// of its run; for an approve the catalog's dependencies, since which of them
// the operation's tool has now is known only when the operation is read.
func (c Verb) Wants(k *Contract) (Want, error) {
	w := Want{Run: c.Run, Op: c.Op, Said: verbMemo(c.ID)}
	switch c.Do {
	case ActNewRun:
		w.NewRun, w.Whole = c.NewRun, true
	case ActApprove:
		w.Actions = c.AsNewAction
		for _, tool := range k.Tools {
			w.Depends = append(w.Depends, tool.Dependency)
		}
		slices.Sort(w.Depends)
		w.Depends = slices.Compact(w.Depends)
	default:
	}
	return w, nil
}
