package gate

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFilterOfTheQueue(t *testing.T) {
	row := ItemRow{
		ID: "i-0123456789", Kind: KindExhausted, State: HoldOpen, Run: "r1", Op: "Charge-42", Agent: "planner/billing", Tool: "payments.charge",
		Dependency: "payments-api", Code: "timeout", Class: ClassTransient, Key: "8f1c9e0", Opened: Instant{noon.Add(-time.Hour)},
		Claim: &ClaimRow{By: "dana", ID: "uid:1002", Until: Instant{noon.Add(time.Minute)}},
	}
	for _, c := range []struct {
		text   string
		change func(*ItemRow)
		want   bool
	}{
		{"", nil, true},
		{"  ", nil, true},
		{"kind:exhausted", nil, true},
		{"kind:stopped", nil, false},
		{"kind:EX*", nil, true},
		{"state:open", nil, true},
		{"state:resolved", nil, false},
		{"agent:planner*", nil, true},
		{"agent:planner", nil, false},
		{"run:r1", nil, true},
		{"run:r", nil, false},
		{"op:charge-42", nil, true},
		{"op:*42", nil, true},
		{"op:c*-*2", nil, true},
		{"op:c*-*3", nil, false},
		{"op:charge-42*charge-42", nil, false},
		{"tool:payments.charge", nil, true},
		{"tool:charge", nil, false},
		{"dep:payments*", nil, true},
		{"code:timeout", nil, true},
		{"code:timeout", func(r *ItemRow) { r.Code = "rate_limit" }, false},
		{"!code:timeout", nil, false},
		{"!code:timeout", func(r *ItemRow) { r.Code = "rate_limit" }, true},
		{`code:""`, nil, false},
		{`code:""`, func(r *ItemRow) { r.Code = "" }, true},
		{"code:*", func(r *ItemRow) { r.Code = "" }, false},
		{"class:transient", nil, true},
		{"class:unknown", nil, false},
		{"class:unknown", func(r *ItemRow) { r.Class = ClassUnknown }, true},
		{"class:unknown", func(r *ItemRow) { r.Class, r.Code = ClassUnknown, "" }, false},
		{"key:8f1c*", nil, true},
		{"claim:dana", nil, true},
		{"claim:uid:1002", nil, true},
		{"claim:eli", nil, false},
		{"claim:*", nil, true},
		{"claim:*", func(r *ItemRow) { r.Claim = nil }, false},
		{"claim:*", func(r *ItemRow) { r.Claim = &ClaimRow{By: "dana", Until: Instant{noon}} }, false},
		{`claim:""`, func(r *ItemRow) { r.Claim = &ClaimRow{By: "dana", Until: Instant{noon}} }, true},
		{`claim:""`, nil, false},
		{"since:1h", nil, true},
		{"since:59m59s", nil, false},
		{"since:1d", nil, true},
		{"!since:30m", nil, true},
		{"charge-4", nil, true},
		{"PAYMENTS", nil, true},
		{"pay*api", nil, true},
		{"pay*apo", nil, false},
		{"i-01", nil, true},
		{"r1", nil, true},
		{"timeout", nil, true},
		{"8f1c", nil, false}, // a name has to say that it is a key
		{"!refund", nil, true},
		{"!charge", nil, false},
		{"kind:exhausted dep:payments* timeout", nil, true},
		{"kind:exhausted dep:payments* refund", nil, false},
		{`op:"charge 42"`, func(r *ItemRow) { r.Op = "charge 42" }, true},
		{`op:"a\*b"`, func(r *ItemRow) { r.Op = "axb" }, false},
		{`op:"a\*b"`, func(r *ItemRow) { r.Op = "a*b" }, true},
		{`"charge:4"`, func(r *ItemRow) { r.Op = "charge:42" }, true},
		{`"!42"`, func(r *ItemRow) { r.Op = "charge!42" }, true},
		{`OP:Charge-42`, nil, true},
	} {
		f, err := ParseFilter(FilterQueue, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		it := row
		if c.change != nil {
			c.change(&it)
		}
		if got := f.MatchesItem(&it, noon); got != c.want {
			t.Errorf("%s: matches = %v, want %v", c.text, got, c.want)
		}
	}
}

func TestFilterOfRuns(t *testing.T) {
	run := Run{ID: "r1", Agent: "planner", LastCode: "timeout", LastAt: noon.Add(-time.Hour)}
	charge := Operation{
		ID: "charge-42", Tool: "payments.charge", LastTool: "payments.v2", Dependency: "payments", Key: "8f1c9e0",
		FirstError: Failure{Code: "rate_limit"}, LastError: Failure{Code: "timeout"},
		Attempts: []Attempt{{Tool: "payments.old", Failure: Failure{Code: "upstream_5xx"}}, {Result: "ch_42"}},
	}
	search := Operation{ID: "search-1", Tool: "web.search", Dependency: "search", Key: "77aa"}
	carried := Operation{ID: "old-1", Tool: "files.put", Carried: true}
	for _, c := range []struct {
		text string
		want bool
		ops  bool // whether the operations are looked at
	}{
		{"", true, false},
		{"state:active", true, false},
		{"state:ended", false, false},
		{"agent:plan*", true, false},
		{"run:r1", true, false},
		{"since:1h", true, false},
		{"since:10m", false, false},
		{"plan", true, false},
		{"charge", false, false}, // a name has to say that it is an operation
		{"op:charge-42", true, true},
		{"dep:payments", true, true},
		{"key:8f1c*", true, true},
		{"ref:ch_42", true, true},
		{"ref:ch_4", false, true},
		{"tool:payments.charge", true, true},
		{"tool:payments.v2", true, true},
		{"tool:payments.old", true, true},
		{"tool:files.put", false, true},
		{"code:rate_limit", true, true},
		{"code:timeout", true, true},
		{"code:upstream*", true, true},
		{"code:parse_error", false, true},
		{"dep:payments code:timeout", true, true},
		{"dep:search code:timeout", false, true}, // not of one operation
		{"dep:search !code:timeout", false, true},
		{"dep:search !code:parse_error", true, true},
		{"!code:timeout", false, true},
		{"!code:parse_error", true, true},
		{"state:ended op:charge-42", false, false},
	} {
		f, err := ParseFilter(FilterRuns, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		looked := false
		got, err := f.MatchesRun(&run, noon, func() ([]Operation, error) {
			looked = true
			return []Operation{search, charge, carried}, nil
		})
		if err != nil || got != c.want || looked != c.ops {
			t.Errorf("%s: matches = %v, %v, want %v; looks at the operations = %v, want %v", c.text, got, err, c.want, looked, c.ops)
		}
	}
	for _, c := range []struct {
		run  Run
		text string
		ops  bool
	}{
		{Run{}, "code:timeout", false},
		{Run{}, "code:*", false},
		{Run{}, `code:""`, true},
		{Run{}, "!code:timeout", true},
		{Run{}, "op:x", true},
		{Run{LastCode: "timeout"}, "code:rate_limit", true},
		{Run{Parent: "r0"}, "code:timeout", true},
		{Run{Next: "r2"}, "code:timeout", true},
	} {
		f, err := ParseFilter(FilterRuns, c.text)
		if err != nil {
			t.Fatal(err)
		}
		looked := false
		_, err = f.MatchesRun(&c.run, noon, func() ([]Operation, error) { looked = true; return nil, nil })
		if err != nil || looked != c.ops {
			t.Errorf("%s of a run with last code %q, parent %q and next %q: looks at the operations = %v, want %v", c.text, c.run.LastCode, c.run.Parent, c.run.Next, looked, c.ops)
		}
	}
	f, _ := ParseFilter(FilterRuns, "op:x")
	if _, err := f.MatchesRun(&run, noon, func() ([]Operation, error) { return nil, ErrDamaged }); !errors.Is(err, ErrDamaged) {
		t.Errorf("operations that cannot be read: %v, want %v", err, ErrDamaged)
	}
}

func TestFilterOfTheLedger(t *testing.T) {
	decision := Decision{
		Command: Verb{Actor: dana, Do: ActApprove}, Run: "r1", Op: "charge-42", Tool: "payments.charge", Dependency: "payments-api", Code: "timeout",
		Verdict: StopUnsafeToRepeat, Inputs: Inputs{Now: noon.Add(-time.Hour)},
	}
	for _, c := range []struct {
		text string
		want bool
	}{
		{"", true},
		{"act:approve", true},
		{"act:ask", false},
		{"verdict:stop_*", true},
		{"verdict:STOP_UNSAFE_TO_REPEAT", true},
		{"verdict:admit", false},
		{"actor:dana", true},
		{"actor:" + dana.ID, true},
		{"actor:eli", false},
		{"run:r1 op:charge-42 tool:payments.charge dep:payments-api code:timeout", true},
		{"run:r2", false},
		{"op:charge", false},
		{"tool:charge", false},
		{"dep:payments", false},
		{"code:time", false},
		{"since:1h", true},
		{"since:59m", false},
		{"manual:yes", true},
		{"manual:no", false},
		{"!manual:no", true},
		{"unsafe", true},
		{"dana", true},
		{string(ItemIDOf("r1", "charge-42"))[:6], true},
		{"refund", false},
	} {
		f, err := ParseFilter(FilterLedger, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := f.MatchesDecision(&decision, noon); got != c.want {
			t.Errorf("%s: matches = %v, want %v", c.text, got, c.want)
		}
	}
	asked := decision
	asked.Command = Ask{Actor: dana}
	if f, _ := ParseFilter(FilterLedger, "manual:no"); !f.MatchesDecision(&asked, noon) {
		t.Error("an ask is taken for an act of a person's")
	}
}

func TestFilterThatIsWrong(t *testing.T) {
	names := "one of the names kind, state, agent, run, op, tool, dep, code, class, key, claim, since"
	for _, c := range []struct {
		text string
		want FilterError
	}{
		{"colour:red", FilterError{0, `"colour"`, names}},
		{"timeout !colour:red", FilterError{9, `"colour"`, names}},
		{":red", FilterError{0, `""`, names}},
		{"kind:", FilterError{5, "nothing", "one of outcome-unknown, approval, exhausted, stopped"}},
		{"kind:sad", FilterError{5, `"sad"`, "one of outcome-unknown, approval, exhausted, stopped"}},
		{"kind:sad*", FilterError{5, `"sad*"`, "one of outcome-unknown, approval, exhausted, stopped"}},
		{"code: timeout", FilterError{5, "nothing", "a text"}},
		{"since:", FilterError{6, "nothing", spanWanted}},
		{"since:1", FilterError{6, `"1"`, spanWanted}},
		{"since:0s", FilterError{6, `"0s"`, spanWanted}},
		{"since:-1h", FilterError{6, `"-1h"`, spanWanted}},
		{"since:d", FilterError{6, `"d"`, spanWanted}},
		{"since:99999d", FilterError{6, `"99999d"`, spanWanted}},
		{"since:1h*", FilterError{6, `"1h*"`, spanWanted}},
		{"r1 !", FilterError{4, "nothing", "a term"}},
		{"!!r1", FilterError{1, `"!r1"`, "! only once, before the term, or the text in quotes"}},
		{"code:!timeout", FilterError{5, `"!timeout"`, "! only once, before the term, or the text in quotes"}},
		{`op:"charge`, FilterError{10, "nothing", "the quote that ends what begins at byte 3"}},
		{`op:"charge"-42`, FilterError{11, `"-42"`, "a blank after the quote"}},
		{`op:charge"42"`, FilterError{9, `"\"42\""`, "quotes around the whole value"}},
		{`charge"42"`, FilterError{6, `"\"42\""`, "quotes around the whole value"}},
		{`"charge\42"`, FilterError{7, `"\\42\""`, `one of \" \\ \*`}},
		{`"charge\`, FilterError{7, `"\\"`, `one of \" \\ \*`}},
		{"op:\xff", FilterError{3, `"\xff"`, "UTF-8"}},
		{"op:\x1b]52;c;\u202e", FilterError{}},
		{"kind:\x1b]52;c;\u202e", FilterError{5, `"\x1b]52;c;\u202e"`, "one of outcome-unknown, approval, exhausted, stopped"}},
		{strings.Repeat("x", MaxFilter), FilterError{}},
		{strings.Repeat("x", MaxFilter+1), FilterError{MaxFilter, "1025", "at most 1024 bytes"}},
	} {
		_, err := ParseFilter(FilterQueue, c.text)
		if c.want == (FilterError{}) {
			if err != nil {
				t.Errorf("%q: %v, want none", c.text, err)
			}
			continue
		}
		var got *FilterError
		if !errors.As(err, &got) || *got != c.want {
			t.Errorf("%q: %v, want %v", c.text, err, &c.want)
		}
		var input *InputError
		if !errors.As(err, &input) || input.Field != "filter" {
			t.Errorf("%q: %v, want it to be an InputError about filter too", c.text, err)
		}
	}
}

func TestFilterAsText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" kind:stopped\t !Charge-42 ", "kind:stopped !Charge-42"},
		{`op:"charge-42"`, "op:charge-42"},
		{`op:"charge 42" "a:b" "!x" code:""`, `op:"charge 42" "a:b" "!x" code:""`},
		{`op:"a\*b*c" claim:uid:1002 tool:a\b`, `op:"a\*b*c" claim:uid:1002 tool:a\b`},
	} {
		f, err := ParseFilter(FilterQueue, c.text)
		if err != nil || f.String() != c.want {
			t.Errorf("%s = %s, %v, want %s", c.text, f, err, c.want)
		}
		if f.IsZero() != (c.want == "") {
			t.Errorf("%q: zero = %v", c.text, f.IsZero())
		}
	}
}

func TestFilterBy(t *testing.T) {
	f := FilterBy(FilterQueue, [2]string{"dep", "payments api*"}, [2]string{"code", ""}, [2]string{"", "a:b"})
	const want = `dep:"payments api\*" code:"" "a:b"`
	if got := f.String(); got != want {
		t.Errorf("filter = %s, want %s", got, want)
	}
	row := ItemRow{Dependency: "payments api*", Op: "xa:by"}
	if !f.MatchesItem(&row, noon) {
		t.Errorf("%s does not match what it was made of", f)
	}
	row.Dependency = "payments api-2"
	if f.MatchesItem(&row, noon) {
		t.Errorf("%s matches %q", f, row.Dependency)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name that there is not is taken")
		}
	}()
	FilterBy(FilterQueue, [2]string{"colour", "red"})
}

func TestFilterNames(t *testing.T) {
	if got, want := FilterRuns.Values("state"), []string{"active", "exhausted", "ended"}; !slices.Equal(got, want) {
		t.Errorf("states of a run = %v, want %v", got, want)
	}
	for _, l := range []FilterList{FilterRuns, FilterQueue, FilterLedger} {
		for _, name := range l.Names() {
			for _, v := range l.Values(name) {
				if _, err := ParseFilter(l, name+":"+v); err != nil {
					t.Errorf("%s: %s:%s: %v", l, name, v, err)
				}
			}
		}
	}
	if got := FilterList(0).Names(); got != nil {
		t.Errorf("names of no list = %v", got)
	}
	if _, err := ParseFilter(0, "kind:open"); err == nil {
		t.Error("a list that is none has names")
	}
}

// A filter comes back from its text, whatever it is made of.
func TestFilterRoundTrips(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"*", `"`, `\`, " ", "!", ":", "\u00a0", "", "charge-42", "é", "\x1b", "\u202e"}),
		rapid.StringMatching(`[a-z0-9_.:/@+=#,-]{1,8}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SampledFrom([]FilterList{FilterRuns, FilterQueue, FilterLedger}).Draw(t, "list")
		var texts []string
		for range rapid.IntRange(0, 4).Draw(t, "terms") {
			name := rapid.SampledFrom(append(list.Names(), "", "")).Draw(t, "name")
			value := patternOf(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
				return strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(t, "pieces"), "")
			}), 1, 3).Draw(t, "parts")...).quoted(name == "")
			if words := list.Values(name); words != nil {
				value = rapid.SampledFrom(words).Draw(t, "word")
			}
			if name == "since" {
				value = rapid.SampledFrom([]string{"1h", "1d", "2d12h", "1.5s", `"90m"`}).Draw(t, "span")
			}
			if name != "" {
				value = name + ":" + value
			}
			texts = append(texts, rapid.SampledFrom([]string{"", "!"}).Draw(t, "not")+value)
		}
		f, err := ParseFilter(list, strings.Join(texts, rapid.SampledFrom([]string{" ", "\t ", "\n"}).Draw(t, "blank")))
		if err != nil {
			t.Fatalf("%q: %v", texts, err)
		}
		if again, err := ParseFilter(list, f.String()); err != nil || !reflect.DeepEqual(again, f) {
			t.Errorf("%q: parsed again from %q: %+v, %v, want %+v", texts, f.String(), again, err, f)
		}
	})
}

// What is parsed comes back from its text, and what is not is said in one line
// that shows nothing raw, at a place in the text.
func FuzzParseFilter(f *testing.F) {
	for _, text := range []string{
		"", "kind:stopped dep:payments* !code:timeout since:1h", `op:"charge \"42\" \\ \*" "a:b"`, "!", "!!a", `a"b`, `"`, `op:"`, `"\`, "since:1d1d",
		"state:exhausted agent:planner* key:8f1c* ref:ch_42", "verdict:stop_* manual:yes", ":", "a:b:c", "\xff", "\x1b]52;c;\a", "\u202e:x", "\u00a0",
	} {
		for list := range FilterLedger + 1 {
			f.Add(uint8(list), text)
		}
	}
	f.Fuzz(func(t *testing.T, list uint8, text string) {
		got, err := ParseFilter(FilterList(list), text)
		if err != nil {
			var e *FilterError
			if !errors.As(err, &e) || e.At < 0 || e.At > len(text) {
				t.Fatalf("error = %v, want one about a place in the text", err)
			}
			if says := err.Error(); strings.ContainsFunc(says, func(r rune) bool { return r < ' ' || r >= 0x7f }) || !utf8.ValidString(says) {
				t.Errorf("error of %q holds it raw: %q", text, says)
			}
			return
		}
		again := got.String()
		if len(again) > MaxFilter {
			return // it needs quotes that the text had not
		}
		if f, err := ParseFilter(FilterList(list), again); err != nil || !reflect.DeepEqual(f, got) {
			t.Errorf("%q: parsed again from %q: %+v, %v, want %+v", text, again, f, err, got)
		}
		got.MatchesItem(&ItemRow{Op: OpID(text)}, noon)
	})
}
