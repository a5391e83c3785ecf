package api

import (
	"encoding"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tollgate/gate"
)

// params reads the query of a call and keeps the first thing wrong with it. It
// is as strict as a body: a filter that is misspelt and so left out would show
// more than was asked for.
type params struct {
	values url.Values
	known  []string // the names that the call has read
	err    error
}

// query returns the parameters of a request.
func query(r *http.Request) *params {
	values, err := url.ParseQuery(r.URL.RawQuery)
	p := &params{values: values}
	if err != nil {
		p.refuse("query", "pairs of name=value, escaped", r.URL.RawQuery)
	}
	return p
}

// text reads a text; absent is empty.
func (p *params) text(name string) string {
	p.known = append(p.known, name)
	if values := p.values[name]; len(values) > 1 {
		p.refuse(name, "it once", strings.Join(values, " "))
	}
	return p.values.Get(name)
}

// end returns what is wrong with the query, once all of it has been read.
func (p *params) end() error {
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if !slices.Contains(p.known, name) {
			p.refuse("query", "only "+strings.Join(slices.Sorted(slices.Values(p.known)), ", "), name)
		}
	}
	return p.err
}

// number reads a count from 0 to most; absent is 0.
func (p *params) number(name string, most uint64) uint64 {
	text := p.text(name)
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
	text := p.text("wait")
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
	if text := p.text(name); text != "" {
		if err := into.UnmarshalText([]byte(text)); err != nil && p.err == nil {
			p.err = err
		}
	}
}

// filter reads the filter of a list.
func (p *params) filter(list gate.FilterList) gate.Filter {
	f, err := gate.ParseFilter(list, p.text("filter"))
	if err != nil && p.err == nil {
		p.err = err
	}
	return f
}

func (p *params) flag(name string) bool {
	switch text := p.text(name); text {
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
