package views

import (
	"strings"
	"testing"
	"time"
)

func TestFixtureResults(t *testing.T) {
	for _, r := range []struct {
		row  FixtureRow
		want string
	}{
		{FixtureRow{}, "- f never played - title"},
		{FixtureRow{Played: now.Add(-time.Minute)}, "v f as expected 1m title"},
		{FixtureRow{Played: now, Differs: 1}, "x f 1 difference 0s title"},
		{FixtureRow{Played: now, Differs: 2}, "x f 2 differences 0s title"},
		{FixtureRow{Played: now, Failed: "no such tool"}, "x f did not play 0s no such tool"},
	} {
		r.row.Name, r.row.Title = "f", "title"
		got := strings.Join(strings.Fields(strings.Split(Fixtures(samplePage(NewTheme(Plain, true), 100, 24, 0), FixturesView{Rows: []FixtureRow{r.row}}), "\n")[4]), " ")
		if got != r.want {
			t.Errorf("got %q, want %q", got, r.want)
		}
	}
}

// A playback says where it is, how fast, and shows the newest decisions, as
// many as there is room for.
func TestPlayback(t *testing.T) {
	v := samplePlayback()
	p := samplePage(NewTheme(Plain, true), 120, 24, 0)
	for _, r := range []struct {
		name string
		with func(*PlaybackView)
		want []string
	}{
		{"as it is", func(*PlaybackView) {}, []string{"* playing 10x", "step 42 of 120", "after 01:12", "4711"}},
		{"paused", func(v *PlaybackView) { v.Paused = true }, []string{"= paused 10x"}},
		{"half as fast", func(v *PlaybackView) { v.Speed = 0.5 }, []string{" 0.5x"}},
		{"as fast as it can", func(v *PlaybackView) { v.Speed = 0 }, []string{"at full speed"}},
		{"over", func(v *PlaybackView) { v.At, v.Result = 120, &FixtureRow{Played: now} }, []string{"v as expected", "step 120 of 120"}},
	} {
		v := v
		r.with(&v)
		got := Playback(p, v)
		for _, want := range r.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", r.name, want, got)
			}
		}
	}
	for _, h := range []int{10, 12, 16, 24} {
		p.Height = h
		shown := 0
		for _, d := range v.Decisions {
			if strings.Contains(Playback(p, v), " "+seq(d.Seq)+" ") {
				shown++
			}
		}
		if want := min(PlaybackRows(p, v), len(v.Decisions)); shown != want {
			t.Errorf("on %d rows %d decisions, want %d", h, shown, want)
		}
		if !strings.Contains(Playback(p, v), " 4711 ") {
			t.Errorf("on %d rows the newest decision is not there", h)
		}
	}
}

// In each column the longest bar is that of the largest number, and the words
// below say by how much the first rules differ.
func TestCompare(t *testing.T) {
	got := fixtureScreens()["compare"](samplePage(NewTheme(Plain, true), 140, 24, 0))
	rows := strings.Split(got, "\n")
	bars := func(row string) (lengths []int) {
		for f := range strings.FieldsSeq(row) {
			if strings.Trim(f, "=") == "" {
				lengths = append(lengths, len(f))
			}
		}
		return lengths
	}
	gate, ungated := bars(rows[6]), bars(rows[8])
	if len(gate) != 4 || len(ungated) != 4 || gate[0] >= ungated[0] || gate[1] >= ungated[1] {
		t.Errorf("bars of the gate %v, without it %v, in\n%s", gate, ungated, got)
	}
	for _, want := range []string{
		"gate beside blanket:2: 102 fewer dispatches, 1.2M fewer tokens, 14 fewer double effects, 26 more items", "evil\\e[2J.yaml", " plays",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	one := Compare(samplePage(NewTheme(Plain, true), 80, 24, 0), CompareView{Rows: []CompareRow{{Rules: "a", Items: 1}, {Rules: "b", Dispatches: 1}}})
	if !strings.Contains(one, "a beside b: 1 fewer dispatch, 1 more item") {
		t.Errorf("one each way:\n%s", one)
	}
	same := Compare(samplePage(NewTheme(Plain, true), 80, 24, 0), CompareView{Rows: []CompareRow{{Rules: "a"}, {Rules: "b"}}})
	if !strings.Contains(same, "a beside b: the same") {
		t.Errorf("no difference:\n%s", same)
	}
}
