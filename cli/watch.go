package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"tollgate/escalation"
	"tollgate/fixtures"
	"tollgate/gate"
	"tollgate/runstore/memstore"
	"tollgate/ui"
)

// stage is a fixture that plays in step with the real clock, and the desk of
// whoever watches.
type stage struct {
	gate.Reader
	player *fixtures.Player
}

// Item implements ui.Source.
func (s *stage) Item(ctx context.Context, id gate.ItemID) (escalation.Item, error) {
	return escalation.NewDesk(s.player.Door(), s.player.Engine()).Item(ctx, self(), id)
}

// Do implements ui.Desk: what the gate permits is dispatched by the script's
// own caller.
func (s *stage) Do(ctx context.Context, who gate.Actor, id gate.ItemID, a escalation.Act) (gate.DecisionRow, error) {
	ref, err := s.Find(ctx, id)
	if err != nil {
		return gate.DecisionRow{}, err
	}
	verb, err := a.Command(who, ref)
	if err != nil {
		return gate.DecisionRow{}, err
	}
	d, err := s.player.Do(ctx, verb)
	if err != nil {
		return gate.DecisionRow{}, err
	}
	return gate.RowOf(&d), nil
}

func (s *stage) now() time.Time {
	now, _ := s.player.Door().Now()
	return now
}

// between is how far apart the fixtures of a show begin.
const between = 3 * time.Second

// stays is how long the gate stays open after the script, for people to go on.
const stays = 24 * time.Hour

// together returns one fixture of all that are given, whose gate stays open.
func together(all []*fixtures.Fixture) (*fixtures.Fixture, error) {
	one := all[0]
	if len(all) > 1 {
		var err error
		if one, err = fixtures.Together("demo", between, all...); err != nil {
			return nil, &fault{code: exitUsage, err: err, hint: "play them apart"}
		}
	}
	long := *one
	long.Runs = append([]fixtures.Run{}, one.Runs...)
	last := &long.Runs[len(long.Runs)-1]
	last.Happenings = append(append([]fixtures.Happening{}, last.Happenings...), fixtures.Happening{At: stays, Do: fixtures.Clock})
	return &long, nil
}

// watch plays fixtures in step with the real clock, times a factor, with the
// console on them.
func watch(ctx context.Context, all []*fixtures.Fixture, contract *gate.Contract, factor float64) error {
	if err := needTerminal(); err != nil {
		return err
	}
	f, err := together(all)
	if err != nil {
		return err
	}
	// In memory: nothing is left behind, and no disk holds the show up.
	store := memstore.New(f.Realm())
	player, err := fixtures.NewPlayer(ctx, f, fixtures.Options{
		Engine: store, Contract: contract, Start: time.Now().UTC(), Pace: fixtures.NewSpeed(factor),
	})
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	var (
		wg     sync.WaitGroup
		played error
	)
	wg.Go(func() {
		defer stop() // a script that cannot go on ends the console too
		played = safely(func() error {
			_, err := player.Play(ctx)
			return err
		})
		if errors.Is(played, context.Canceled) {
			played = nil
		}
	})
	s := &stage{store, player}
	err = show(ctx, ui.Options{Source: s, Desk: s, Who: self(), Clock: s.now, Place: "(throw-away)"})
	stop()
	wg.Wait()
	return errors.Join(err, played)
}
