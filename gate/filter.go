package gate

import (
	"fmt"
	"strings"
	"time"
)

// Filter chooses rows of one list. It is made of terms, all of which a row has
// to match. The zero Filter matches every row.
//
// Immutable, and safe for concurrent use. Make one with ParseFilter or
// FilterBy.
type Filter struct {
	list  FilterList
	terms []filterTerm
}

// MaxFilter bounds the text of a filter, in bytes.
const MaxFilter = 1024

// filterTerm is one term: what a row has to have, or not to have.
type filterTerm struct {
	not  bool
	name string // empty: a part of any of the row's names
	text pattern
	span time.Duration // of since
}

// FilterBy returns the filter of a list that chooses the rows which have all of
// these: pairs of a name and the whole of its value, or of the empty name and a
// part of any name. A star in them is a star. It takes texts that ParseFilter
// would refuse: too long ones, and what is no UTF-8. A name that the list
// lacks, or since, panics: it is a bug.
func FilterBy(list FilterList, pairs ...[2]string) Filter {
	f := Filter{list: list}
	for _, pair := range pairs {
		if n, ok := list.named(pair[0]); pair[0] != "" && (!ok || n.span) {
			panic(fmt.Sprintf("gate: filter of %s by %q", list, pair[0]))
		}
		f.terms = append(f.terms, filterTerm{name: pair[0], text: patternOf(pair[1])})
	}
	return f
}

// IsZero reports whether the filter matches every row because it has no terms.
func (f Filter) IsZero() bool { return len(f.terms) == 0 }

// String returns the filter as a text of which ParseFilter makes an equal one.
func (f Filter) String() string {
	var b strings.Builder
	for i := range f.terms {
		t := &f.terms[i]
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.not {
			b.WriteByte('!')
		}
		if t.name != "" {
			b.WriteString(t.name + ":")
		}
		b.WriteString(t.text.quoted(t.name == ""))
	}
	return b.String()
}

// FilterError says what is wrong with the text of a filter: where, as a byte
// offset into the text from 0, what stands there and what was wanted. Got and
// Want hold nothing raw of the text.
type FilterError struct {
	At   int
	Got  string
	Want string
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("filter: byte %d: want %s, got %s", e.At, e.Want, e.Got)
}

// Unwrap returns it as the *InputError of a field.
func (e *FilterError) Unwrap() error {
	return &InputError{Field: "filter", Want: fmt.Sprintf("%s at byte %d", e.Want, e.At), Got: e.Got}
}

// shown is a part of a text as an error says it: short, and escaped.
func shown(s string) string { return fmt.Sprintf("%+.40q", s) }
