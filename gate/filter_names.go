package gate

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// FilterList is a list whose rows a Filter chooses. The zero value is none.
type FilterList uint8

// The lists that have filters.
const (
	FilterRuns   FilterList = iota + 1 // RunRow
	FilterQueue                        // ItemRow
	FilterLedger                       // DecisionRow
)

var filterListNames = [...]string{FilterRuns: "runs", FilterQueue: "queue", FilterLedger: "ledger"}

// String returns the name, empty for none.
func (l FilterList) String() string { return nameOf(filterListNames[:], l, "FilterList") }

// filterName is a name that a list's filters know.
type filterName struct {
	name  string
	words []string // the values that there are; nil for any text
	span  bool     // its value is a span of time before now
}

var filterNames = [...][]filterName{
	FilterRuns: {
		{name: "state", words: runStateNames[RunActive:]},
		{name: "agent"},
		{name: "run"},
		{name: "dep"},
		{name: "tool"},
		{name: "code"},
		{name: "key"},
		{name: "op"},
		{name: "ref"},
		{name: "since", span: true},
	},
	FilterQueue: {
		{name: "kind", words: kindNames[KindOutcomeUnknown:]},
		{name: "state", words: holdStateNames[HoldOpen:]},
		{name: "agent"},
		{name: "run"},
		{name: "op"},
		{name: "tool"},
		{name: "dep"},
		{name: "code"},
		{name: "class", words: classNames[:]},
		{name: "key"},
		{name: "claim"},
		{name: "since", span: true},
	},
	FilterLedger: {
		{name: "act", words: actNames[ActAdopt:]},
		{name: "verdict", words: verdictNames[Admit:]},
		{name: "actor"},
		{name: "run"},
		{name: "op"},
		{name: "tool"},
		{name: "dep"},
		{name: "code"},
		{name: "since", span: true},
		{name: "manual", words: []string{"yes", "no"}},
	},
}

// Names returns the names that the filters of a list know.
func (l FilterList) Names() []string {
	var names []string
	if int(l) < len(filterNames) {
		for _, n := range filterNames[l] {
			names = append(names, n.name)
		}
	}
	return names
}

// Values returns the values that a name of the list's filters can have: nil for
// any text, a span, or a name that there is not.
func (l FilterList) Values(name string) []string {
	n, _ := l.named(name)
	return slices.Clone(n.words)
}

// Complete returns what a text can become when its last term is completed with
// a name, or with one of the values that there are by its name: nil for
// nothing.
func (l FilterList) Complete(text string) (texts []string) {
	at := len(strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsSpace(r) }))
	if strings.HasPrefix(text[at:], "!") {
		at++
	}
	term, words, before, after := text[at:], l.Names(), "", ":"
	if name, _, ok := strings.Cut(term, ":"); ok {
		words, before, after = l.Values(name), name+":", ""
	}
	for _, w := range words {
		if w = before + w + after; len(w) > len(term) && strings.EqualFold(w[:len(term)], term) {
			texts = append(texts, text[:at]+w)
		}
	}
	return texts
}

func (l FilterList) named(name string) (filterName, bool) {
	if int(l) < len(filterNames) {
		for _, n := range filterNames[l] {
			if n.name == name {
				return n, true
			}
		}
	}
	return filterName{}, false
}

// ofOperation reports whether a run's filter looks for what the name says in
// the run's operations.
func ofOperation(name string) bool {
	switch name {
	case "dep", "tool", "code", "key", "op", "ref":
		return true
	default:
		return false
	}
}

// wanted says what kind of value the name takes.
func (n filterName) wanted() string {
	switch {
	case n.span:
		return spanWanted
	case n.words != nil:
		return "one of " + strings.Join(n.words, ", ")
	case n.name == "":
		return "a term"
	default:
		return "a text"
	}
}

const spanWanted = "a span such as 90s, 15m, 8h or 1d"

// maxSpan bounds a span in days, so that none leaves what an instant can be.
const maxSpan = 36500

// parseSpan reads a positive duration, which may begin with whole days.
func parseSpan(text string) (time.Duration, bool) {
	var span time.Duration
	if days, rest, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil || n > maxSpan {
			return 0, false
		}
		span, text = time.Duration(n)*24*time.Hour, rest
	}
	if text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 || d > maxSpan*24*time.Hour {
			return 0, false
		}
		span += d
	}
	return span, span > 0
}
