package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
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

// Check implements Command.
func (c Adopt) Check() error { return nil }

// Check implements Command.
func (c Start) Check() error {
	if err := CheckID("run", string(c.Run)); err != nil {
		return err
	}
	if c.Agent != "" {
		if err := CheckID("agent", c.Agent); err != nil {
			return err
		}
	}
	return checkCaps(c.Caps)
}

func checkCaps(caps []Cap) error {
	for i, k := range caps {
		if err := CheckID("caps", k.Agent); err != nil {
			return err
		}
		if err := checkCount("caps."+k.Agent+".attempts", k.Attempts, 0, MaxCount); err != nil {
			return err
		}
		for _, other := range caps[:i] {
			if other.Agent == k.Agent {
				return outOfRange("caps."+k.Agent, "one cap for an agent", "two")
			}
		}
	}
	return nil
}

// Check implements Command.
func (c Ask) Check() error {
	if err := firstError(CheckID("run", string(c.Run)), CheckID("ask_id", c.ID), CheckID("tool", c.Tool)); err != nil {
		return err
	}
	// A name that the gate itself made, OP~2, may be asked about.
	base, _, _ := strings.Cut(string(c.Op), "~")
	for _, id := range [...]struct{ what, id string }{{"op", base}, {"agent", c.Agent}, {"parent", strings.ReplaceAll(string(c.Parent), "~", "-")}, {"key", c.Key}} {
		if id.id != "" {
			if err := CheckID(id.what, id.id); err != nil {
				return err
			}
		}
	}
	switch {
	case c.Input == nil && c.InputDigest.IsZero() && c.Op == "":
		return &InputError{Field: "input", Want: "an input, an input_digest or an op", Got: "none of them"}
	case len(c.Input) > MaxInput:
		return &InputError{Field: "input", Want: fmt.Sprintf("at most %d bytes", MaxInput), Got: fmt.Sprintf("%d bytes", len(c.Input))}
	case c.Path > PathManual:
		return outOfRange("path", "model, subagent, queue, resume or fallback", c.Path.String())
	case c.Path == PathManual:
		return &InputError{Field: "path", Want: "model, subagent, queue, resume or fallback", Got: `"manual", which is an operator's approve`}
	}
	return checkCount("tokens", c.Tokens, 0, MaxTokens)
}

// Check implements Command.
func (c Report) Check() error {
	switch {
	case c.Op == "":
		return &InputError{Field: "op", Want: "an operation", Got: "nothing"}
	case c.Ordinal < 1:
		return outOfRange("ordinal", "1 or more", fmt.Sprint(c.Ordinal))
	case c.Inner < 0 || c.Inner > MaxCount:
		return outOfRange("inner_attempts", fmt.Sprintf("1 to %d", MaxCount), fmt.Sprint(c.Inner)) // 0 is not said
	case c.OK && c.Failure != Failure{}:
		return &InputError{Field: "failure", Want: "none beside ok", Got: "one"}
	case !c.OK && c.Failure.Code == "":
		return &InputError{Field: "failure.code", Want: "a code", Got: "nothing"}
	case !c.OK && c.Failure.Code == NoReport:
		return &InputError{Field: "failure.code", Want: "a code of the provider's", Got: "no_report, which is the gate's own"}
	}
	return checkText("result_ref", c.Result, MaxResult)
}

// Check implements Command.
func (Sweep) Check() error { return nil }

// Check implements Command.
func (c End) Check() error { return checkText("reason", c.Reason, MaxReason) }

// Check implements Command.
func (c Verb) Check() error {
	if err := firstError(checkText("reason", c.Reason, MaxReason), checkText("evidence", c.Evidence, MaxReason)); err != nil {
		return err
	}
	switch {
	case c.Do.Decides() && strings.TrimSpace(c.Reason) == "":
		return &InputError{Field: "reason", Want: "a reason", Got: "nothing"}
	case c.Do == ActReconcile && c.Finding == FindingNone:
		return &InputError{Field: "finding", Want: "happened, did-not-happen or cannot-tell", Got: "nothing"}
	case c.Do == ActReconcile && c.Finding != FindingCannotTell && strings.TrimSpace(c.Evidence) == "":
		return &InputError{Field: "evidence", Want: "what shows it", Got: "nothing"}
	case c.Do == ActNote && strings.TrimSpace(c.Reason) == "":
		return &InputError{Field: "reason", Want: "the note's text", Got: "nothing"}
	case c.Do == ActSnooze && c.Until.IsZero():
		return &InputError{Field: "until", Want: "an instant", Got: "nothing"}
	case c.Do == ActNewRun:
		return firstError(CheckID("run", string(c.NewRun)), c.Limits.Check(), checkCaps(c.Caps))
	}
	return nil
}

func checkText(what, s string, most int) error {
	switch {
	case len(s) > most:
		return &InputError{Field: what, Want: fmt.Sprintf("at most %d bytes", most), Got: fmt.Sprintf("%d bytes", len(s))}
	case !utf8.ValidString(s):
		return &InputError{Field: what, Want: "UTF-8", Got: "bytes that are not"}
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Truncated returns an instant as the gate keeps it: UTC, whole milliseconds.
func Truncated(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
