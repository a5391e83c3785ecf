package api

import (
	"encoding"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"tollgate/gate"
)

// params reads the query of a call and keeps the first thing wrong with it.
type params struct {
	values url.Values
	err    error
}

func (p *params) text(name string) string { return p.values.Get(name) }

// number reads a count from 0 to most; absent is 0.
func (p *params) number(name string, most uint64) uint64 {
	text := p.values.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > most {
		p.refuse(name, fmt.Sprintf("0 to %d", most), text)
		return 0
	}
	return n
}

// window reads anchor, before and after; without before and after it is a
// hundred rows from the anchor on.
func (p *params) window() gate.Window {
	w := gate.Window{
		Anchor: p.text("anchor"),
		Before: int(p.number("before", gate.MaxWindow)), After: int(p.number("after", gate.MaxWindow)),
	}
	if w.Before == 0 && w.After == 0 {
		w.After = 100
	}
	return w
}

// wait reads how long to wait for something new; longer than maxWait is
// maxWait, after which the caller asks again.
func (p *params) wait() time.Duration {
	text := p.values.Get("wait")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		p.refuse("wait", "a duration such as 30s", text)
	}
	return min(d, maxWait)
}

// named reads one of the gate's own names.
func (p *params) named(name string, into encoding.TextUnmarshaler) {
	if text := p.values.Get(name); text != "" {
		if err := into.UnmarshalText([]byte(text)); err != nil && p.err == nil {
			p.err = err
		}
	}
}

func (p *params) flag(name string) bool {
	switch text := p.values.Get(name); text {
	case "", "false":
		return false
	case "true":
		return true
	default:
		p.refuse(name, "true or false", text)
		return false
	}
}

func (p *params) refuse(name, want, got string) {
	if p.err == nil {
		p.err = &gate.InputError{Field: name, Want: want, Got: short(strconv.Quote(got))}
	}
}
