package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

func filterOf(t *testing.T, list gate.FilterList, text string) gate.Filter {
	t.Helper()
	f, err := gate.ParseFilter(list, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// chosen returns the rows that a filter should choose of a list. A filter that
// chooses all of them, or none, shows nothing.
func chosen[R any](t *testing.T, text string, all []R, want func(R) bool) (some []R) {
	t.Helper()
	for _, r := range all {
		if want(r) {
			some = append(some, r)
		}
	}
	if len(some) == 0 || len(some) == len(all) {
		t.Fatalf("%s: it should choose %d of %d rows: none can be missing", text, len(some), len(all))
	}
	return some
}

func filtersRuns(t *testing.T, mk Make) {
	e, s, _ := told(t, mk, 600)
	ctx := t.Context()
	page, err := e.Runs(ctx, gate.RunsQuery{Now: s.Now})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]gate.RunView, len(page.Rows))
	for i, r := range page.Rows {
		if all[i], err = e.Run(ctx, r.Run, s.Now); err != nil {
			t.Fatal(err)
		}
	}
	op := func(want func(gate.OpRow) bool) func(gate.RunView) bool {
		return func(r gate.RunView) bool { return slices.ContainsFunc(r.Ops, want) }
	}
	failedWith := func(o gate.OpRow, code gate.Code) bool {
		return slices.ContainsFunc(o.Attempts, func(a gate.AttemptRow) bool { return a.Failure != nil && a.Failure.Code == code })
	}
	var key string
	for _, r := range all {
		for _, o := range r.Ops {
			key = o.Key
		}
	}
	mixed := op(func(o gate.OpRow) bool { return o.Dependency == "payments" && failedWith(o, "timeout") })
	for text, want := range map[string]func(gate.RunView) bool{
		"r1":              func(r gate.RunView) bool { return strings.Contains(string(r.Run), "r1") },
		"R1":              func(r gate.RunView) bool { return strings.Contains(string(r.Run), "r1") },
		"run:r1*":         func(r gate.RunView) bool { return strings.HasPrefix(string(r.Run), "r1") },
		"state:exhausted": func(r gate.RunView) bool { return r.State == gate.RunExhausted },
		"!state:ended":    func(r gate.RunView) bool { return r.State != gate.RunEnded },
		"since:10s":       func(r gate.RunView) bool { return !r.LastAt.Before(s.Now.Add(-10 * time.Second)) },
		"op:op3":          op(func(o gate.OpRow) bool { return o.Op == "op3" }),
		"dep:payments":    op(func(o gate.OpRow) bool { return o.Dependency == "payments" }),
		"key:" + key:      op(func(o gate.OpRow) bool { return o.Key == key }),
		"tool:wire": op(func(o gate.OpRow) bool {
			return o.Tool == "wire" || slices.ContainsFunc(o.Attempts, func(a gate.AttemptRow) bool { return a.Tool == "wire" })
		}),
		"code:timeout":              op(func(o gate.OpRow) bool { return failedWith(o, "timeout") }),
		"!code:timeout":             func(r gate.RunView) bool { return !op(func(o gate.OpRow) bool { return failedWith(o, "timeout") })(r) },
		"dep:payments code:timeout": mixed,
		"ref:result-1": op(func(o gate.OpRow) bool {
			return o.Result == "result-1" || slices.ContainsFunc(o.Attempts, func(a gate.AttemptRow) bool { return a.Result == "result-1" })
		}),
		"dep:payments code:timeout state:active": func(r gate.RunView) bool { return mixed(r) && r.State == gate.RunActive },
	} {
		f := filterOf(t, gate.FilterRuns, text)
		var ids []gate.RunID
		for _, r := range chosen(t, text, all, want) {
			ids = append(ids, r.Run)
		}
		checkWindows(t, "runs of "+text, func(w gate.Window) ([]gate.RunID, bool, error) {
			p, err := e.Runs(ctx, gate.RunsQuery{Window: w, Now: s.Now, Filter: f})
			var got []gate.RunID
			for _, r := range p.Rows {
				got = append(got, r.Run)
			}
			if w == (gate.Window{}) {
				if diff := cmp.Diff(got, ids); diff != "" {
					t.Errorf("runs of %s (-got +want):\n%s", text, diff)
				}
			}
			return got, p.More, err
		}, func(id gate.RunID) string { return string(id) })
	}
	f := filterOf(t, gate.FilterRuns, "op:op3")
	for _, r := range all {
		if slices.ContainsFunc(r.Ops, func(o gate.OpRow) bool { return o.Op == "op3" }) {
			continue
		}
		top, err := e.Runs(ctx, gate.RunsQuery{Window: gate.Window{After: 2}, Now: s.Now, Filter: f})
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Runs(ctx, gate.RunsQuery{Window: gate.Window{Anchor: string(r.Run), After: 2}, Now: s.Now, Filter: f})
		if diff := cmp.Diff(got.Rows, top.Rows); err != nil || diff != "" {
			t.Fatalf("from a run that the filter leaves out, %v (-got +want, the top):\n%s", err, diff)
		}
	}
}

func filtersItems(t *testing.T, mk Make) {
	e, s, _ := told(t, mk, 600)
	ctx := t.Context()
	for _, state := range []gate.HoldState{gate.HoldOpen, gate.HoldResolved} {
		page, err := e.Items(ctx, gate.ItemsQuery{Now: s.Now, State: state})
		if err != nil {
			t.Fatal(err)
		}
		mid := page.Rows[slices.IndexFunc(page.Rows, func(r gate.ItemRow) bool { return r.Code != "" && r.Opened.After(Noon.Add(time.Minute)) })]
		span := s.Now.Sub(mid.Opened.Time)
		code, dep := string(mid.Code), mid.Dependency
		rows := map[string]func(gate.ItemRow) bool{
			dep: func(r gate.ItemRow) bool {
				return strings.Contains(string(r.Op)+"\n"+r.Tool+"\n"+string(r.Code)+"\n"+r.Dependency+"\n"+string(r.Run)+"\n"+string(r.ID), dep)
			},
			"kind:" + mid.Kind.String():     func(r gate.ItemRow) bool { return r.Kind == mid.Kind },
			"dep:" + dep:                    func(r gate.ItemRow) bool { return r.Dependency == dep },
			"!dep:" + dep[:2] + "*":         func(r gate.ItemRow) bool { return r.Dependency != dep },
			"code:" + code:                  func(r gate.ItemRow) bool { return string(r.Code) == code },
			"dep:" + dep + " !code:" + code: func(r gate.ItemRow) bool { return r.Dependency == dep && string(r.Code) != code },
			"class:" + mid.Class.String():   func(r gate.ItemRow) bool { return r.Class == mid.Class && r.Code != "" },
			"key:" + mid.Key:                func(r gate.ItemRow) bool { return r.Key == mid.Key },
			"run:" + string(mid.Run):        func(r gate.ItemRow) bool { return r.Run == mid.Run },
			"since:" + span.String():        func(r gate.ItemRow) bool { return !r.Opened.Before(mid.Opened.Time) },
		}
		if state == gate.HoldOpen {
			rows["claim:*"] = func(r gate.ItemRow) bool { return r.Claim.Holds(s.Now) }
			rows["claim:eli"] = func(r gate.ItemRow) bool { return r.Claim.Holds(s.Now) && r.Claim.By == "eli" }
		}
		for text, want := range rows {
			f := filterOf(t, gate.FilterQueue, text)
			some := chosen(t, text, page.Rows, want)
			checkWindows(t, fmt.Sprintf("%s items of %s", state, text), func(w gate.Window) ([]gate.ItemRow, bool, error) {
				p, err := e.Items(ctx, gate.ItemsQuery{Window: w, Now: s.Now, State: state, Filter: f})
				if p.Total != int64(len(some)) {
					t.Errorf("%s items of %s: %d in all, want %d", state, text, p.Total, len(some))
				}
				if diff := cmp.Diff(p.Rows, some); w == (gate.Window{}) && diff != "" {
					t.Errorf("%s items of %s (-got +want):\n%s", state, text, diff)
				}
				return p.Rows, p.More, err
			}, func(r gate.ItemRow) string { return string(r.ID) })
		}
	}
}

func filtersLedger(t *testing.T, mk Make) {
	e, s, _ := told(t, mk, 600)
	ctx := t.Context()
	page, err := e.Ledger(ctx, gate.LedgerQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]func(gate.DecisionRow) bool{
		"manual:yes":       func(d gate.DecisionRow) bool { return d.Act.IsVerb() },
		"!act:ask":         func(d gate.DecisionRow) bool { return d.Act != gate.ActAsk },
		"verdict:STOP_*":   func(d gate.DecisionRow) bool { return d.Verdict.IsStop() },
		"actor:dana":       func(d gate.DecisionRow) bool { return d.Actor.Name == "dana" },
		"actor:uid:1001":   func(d gate.DecisionRow) bool { return d.Actor.ID == "uid:1001" },
		"op:op1 run:r1*":   func(d gate.DecisionRow) bool { return d.Op == "op1" && strings.HasPrefix(string(d.Run), "r1") },
		"tool:wire":        func(d gate.DecisionRow) bool { return d.Tool == "wire" },
		"dep:payments":     func(d gate.DecisionRow) bool { return d.Dependency == "payments" },
		"code:timeout":     func(d gate.DecisionRow) bool { return d.Code == "timeout" },
		"since:30s":        func(d gate.DecisionRow) bool { return !d.At.Before(s.Now.Add(-30 * time.Second)) },
		"manual:yes !dana": func(d gate.DecisionRow) bool { return d.Act.IsVerb() && d.Actor.Name != "dana" },
	} {
		some := chosen(t, text, page.Rows, want)
		for _, run := range []gate.RunID{"", some[0].Run} {
			wanted := slices.DeleteFunc(slices.Clone(some), func(d gate.DecisionRow) bool { return run != "" && d.Run != run })
			for _, back := range []bool{false, true} {
				q := gate.LedgerQuery{Run: run, Back: back, Limit: 7, Now: s.Now, Filter: filterOf(t, gate.FilterLedger, text)}
				var got []gate.DecisionRow
				for {
					p, err := e.Ledger(ctx, q)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, p.Rows...)
					if p.Next == 0 || p.Next == q.From {
						break
					}
					q.From = p.Next
				}
				if back {
					slices.Reverse(got)
				}
				if diff := cmp.Diff(got, wanted); diff != "" {
					t.Errorf("%s of run %q, back %v (-got +want):\n%s", text, run, back, diff)
				}
			}
		}
	}
}

// scans checks how far one window of the ledger looks for what a filter wants:
// over decisions of the whole ledger, or of the run that is asked for.
func scans(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	const n = gate.MaxScan + 10
	commands := make([]gate.Command, 0, n)
	for i := range n {
		commands = append(commands, startRun(runID(i)))
	}
	tellAll(t, e, s, commands)
	newest := headOf(t, e).Seq
	ctx := t.Context()
	for _, row := range []struct {
		text string
		q    gate.LedgerQuery
		rows []gate.RunID
		next uint64
	}{
		{"run:none", gate.LedgerQuery{}, nil, gate.MaxScan + 1},
		{"run:none", gate.LedgerQuery{From: gate.MaxScan + 1}, nil, newest + 1},
		{"run:none", gate.LedgerQuery{Back: true}, nil, newest - gate.MaxScan},
		{"run:none", gate.LedgerQuery{Back: true, From: newest - gate.MaxScan}, nil, 0},
		{"run:r0", gate.LedgerQuery{}, []gate.RunID{"r0"}, gate.MaxScan + 1},
		{"run:r0", gate.LedgerQuery{Run: "r0", Back: true}, []gate.RunID{"r0"}, 0},
		{"act:start", gate.LedgerQuery{Limit: 1}, []gate.RunID{"r0"}, 3},
	} {
		row.q.Filter = filterOf(t, gate.FilterLedger, row.text)
		p, err := e.Ledger(ctx, row.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []gate.RunID
		for _, d := range p.Rows {
			got = append(got, d.Run)
		}
		if diff := cmp.Diff(got, row.rows); diff != "" || p.Next != row.next {
			t.Errorf("%s from %d, back %v: next %d, want %d; runs (-got +want):\n%s", row.text, row.q.From, row.q.Back, p.Next, row.next, diff)
		}
	}
}

// fewFailed is case 26: 12 of many operations have failed and someone has to
// find them. Their runs are first in the default order, and a filter finds them
// in one window, of the runs and of the queue.
func fewFailed(t *testing.T, mk Make) {
	const runs, ops, few = 120, 20, 12
	e, s, _ := begun(t, mk)
	var commands []gate.Command
	var failed []gate.RunID
	for i := range runs {
		run := runID(i)
		commands = append(commands, startRun(run))
		for j := range ops {
			op := gate.OpID(fmt.Sprintf("op%d", j))
			report := gate.Report{Actor: people[2], Run: run, Op: op, Ordinal: 1, OK: true}
			if i%(runs/few) == 3 && j == 7 {
				report.OK, report.Failure = false, gate.Failure{Code: "odd_code"}
				failed = append(failed, run)
			}
			commands = append(commands, askFor(run, op), report)
		}
	}
	tellAll(t, e, s, commands)
	slices.Reverse(failed) // the newest first
	if len(failed) != few {
		t.Fatalf("%d have failed, want %d", len(failed), few)
	}
	ctx := t.Context()
	for _, row := range []struct {
		name  string
		after int
		text  string
	}{
		{"the first of all runs", few, ""},
		{"runs of a filter", 0, "code:odd_code"},
		{"runs of a filter on the operation too", 0, "code:* op:op7 dep:files"},
	} {
		p, err := e.Runs(ctx, gate.RunsQuery{Window: gate.Window{After: row.after}, Now: s.Now, Filter: filterOf(t, gate.FilterRuns, row.text)})
		if err != nil {
			t.Fatal(err)
		}
		var got []gate.RunID
		for _, r := range p.Rows {
			got = append(got, r.Run)
		}
		if diff := cmp.Diff(got, failed); diff != "" || p.More != (row.text == "") {
			t.Errorf("%s: more after them %v; runs (-got +want):\n%s", row.name, p.More, diff)
		}
	}
	items, err := e.Items(ctx, gate.ItemsQuery{Now: s.Now, Filter: filterOf(t, gate.FilterQueue, "code:odd_code dep:files")})
	if err != nil || items.Total != few || len(items.Rows) != few || items.More {
		t.Errorf("items of a filter: %d rows of %d, more %v, %v, want %d", len(items.Rows), items.Total, items.More, err, few)
	}
}
