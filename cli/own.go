package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"time"

	"tollgate/api"
	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore"
)

// owner is a store that this process owns, with the gate before it, the desk
// and the server.
type owner struct {
	*runstore.Store
	dir    string
	door   *gate.Door
	desk   *escalation.Desk
	server *api.Server
}

// own opens the store and puts the gate before it. What was due while nobody
// owned the store is swept at once (R-C5). log takes what no caller is told;
// nil drops it.
func (p place) own(ctx context.Context, log *slog.Logger) (*owner, error) {
	contract, _, err := p.readContract()
	if err != nil {
		return nil, err
	}
	store, err := p.openStore()
	if err != nil {
		return nil, err
	}
	return p.owner(ctx, store, contract, log)
}

// ownForNow is own for one command. Where no contract file is named it goes by
// the contract that is in force, so that no empty catalog takes its place.
func (p place) ownForNow(ctx context.Context) (*owner, error) {
	contract, named, err := p.readContract()
	if err != nil {
		return nil, err
	}
	store, err := p.openStore()
	if err != nil {
		return nil, err
	}
	if !named {
		if contract, err = inForce(ctx, store, contract); err != nil {
			return nil, errors.Join(err, store.Close())
		}
	}
	return p.owner(ctx, store, contract, nil)
}

// inForce returns the contract that a store has adopted last, another where
// there is none yet.
func inForce(ctx context.Context, store *runstore.Store, other *gate.Contract) (*gate.Contract, error) {
	head, err := store.Head(ctx)
	if err != nil || head.Contract.IsZero() {
		return other, err
	}
	doc, err := store.Contract(ctx, head.Contract)
	if err != nil {
		return nil, err
	}
	return gate.ParseContract(doc)
}

// owner puts the gate before an open store, and closes the store if it can't.
func (p place) owner(ctx context.Context, store *runstore.Store, contract *gate.Contract, log *slog.Logger) (*owner, error) {
	o := &owner{Store: store}
	var err error
	if o.dir, err = p.storeDir(); err == nil {
		o.door, err = gate.NewDoor(ctx, store, contract, systemClock{}, jitter)
	}
	if err == nil {
		_, err = o.door.Sweep(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	o.desk = escalation.NewDesk(o.door, store)
	o.server = api.NewServer(o.door, store, o.desk, api.Options{Store: o.dir, Version: programVersion(), Log: log})
	return o, nil
}

// openStore opens the store that is named, or the default one.
func (p place) openStore() (*runstore.Store, error) {
	dir, err := p.storeDir()
	if err != nil {
		return nil, err
	}
	return openStore(dir)
}

// openStore opens a store that is there. What keeps it from opening is no store
// that can be had, whatever the operating system says about it.
func openStore(dir string) (*runstore.Store, error) {
	store, err := runstore.Open(dir, runstore.Options{})
	if code, _ := exitOf(err); code == exitUnexpected {
		err = &fault{code: exitNoStore, err: err}
	}
	return store, err
}

// now is the gate's time.
func (o *owner) now() time.Time {
	now, _ := o.door.Now()
	return now
}

// sweepEvery is how long a sweep may be late after something else happened: a
// busy store is not looked through at every commit.
const sweepEvery = 100 * time.Millisecond

// lookEvery bounds how long the timer of a due sweep runs: Go's timers stand
// still while the machine sleeps, the gate's time does not.
const lookEvery = time.Second

// sweep lets the gate look at what is due, until ctx ends (R-C5, R-T6). What
// goes wrong is logged, and looked at again.
func (o *owner) sweep(ctx context.Context, log *slog.Logger) {
	commits, trouble := o.Watch(ctx), trouble{log: log}
	for {
		var next time.Time
		err := safely(func() (err error) {
			next, err = o.door.Sweep(ctx)
			return err
		})
		if ctx.Err() != nil {
			return
		}
		trouble.met("the sweep failed", err)
		var due <-chan time.Time
		if now, _ := o.door.Now(); !next.IsZero() || err != nil {
			due = time.After(min(lookEvery, max(0, next.Sub(now))))
		}
		select {
		case <-ctx.Done():
			return
		case <-due:
		case _, ok := <-commits:
			if !ok {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepEvery):
		}
	}
}

// trouble logs what goes wrong in something that is done over and over: once,
// and again only after it has gone well, or has gone wrong in another way.
type trouble struct {
	log  *slog.Logger
	said string
}

// met takes what came of it this time; nil is that it went well.
func (t *trouble) met(what string, err error) {
	now := ""
	if err != nil {
		now = err.Error()
	}
	if now != t.said && now != "" {
		t.log.Error(what, "error", now)
	}
	t.said = now
}

// self is who runs this process, as the operating system has it (R-P10).
func self() gate.Actor {
	uid := strconv.Itoa(os.Getuid())
	who := gate.Actor{ID: "uid:" + uid, Source: "os-uid"}
	if u, err := user.LookupId(uid); err == nil {
		who.Name = u.Username
	}
	return who
}
