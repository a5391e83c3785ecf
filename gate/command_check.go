package gate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

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
