package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tollgate/api"
	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/ui"
)

// console opens the console: on the gate that answers, or else as the owner of
// the store, which then serves the socket itself. A socket that is named without
// a store is a gate's that runs.
func (a *app) console(cmd *cobra.Command, _ []string) error {
	if err := needTerminal(); err != nil {
		return err
	}
	path, err := a.at.socketPath()
	if err != nil {
		return err
	}
	client, err := a.at.answering(cmd, path)
	switch {
	case err != nil:
		return err
	case client != nil:
		return errors.Join(attached(cmd.Context(), client, path), client.Close())
	case a.at.socket != "" && a.at.store == "":
		return unanswered(path)
	}
	return a.owning(cmd.Context(), path)
}

// attached shows the console of a gate in another process.
func attached(ctx context.Context, client *api.Client, path string) error {
	health, err := client.Health(ctx)
	if err != nil {
		return err
	}
	began := systemClock{}.Elapsed()
	return show(ctx, ui.Options{
		Source: client, Desk: client, Who: whoIn(health), ReadOnly: !slices.Contains(health.Roles, api.RoleOperator),
		Clock: func() time.Time { return health.Time.Add(systemClock{}.Elapsed() - began) },
		Place: path, Attached: true,
	})
}

// owning shows the console of the owner of the store.
func (a *app) owning(ctx context.Context, path string) error {
	log := slog.New(slog.DiscardHandler) // the screen is the console's
	o, server, err := a.at.ownAndServe(ctx, path, log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { o.sweep(ctx, log) })
	err = o.look(ctx, path)
	cancel()
	err = errors.Join(err, server.close())
	wg.Wait()
	return errors.Join(err, o.Close())
}

// look shows the owner's console. Who the operator is, and what they may do,
// the gate says over its own socket, as to anybody else; all else goes the
// short way, which no other client can keep busy.
func (o *owner) look(ctx context.Context, path string) error {
	client := api.NewClient(path)
	health, err := client.Health(ctx)
	if err = errors.Join(err, client.Close()); err != nil {
		return err
	}
	desk, readOnly := o.desk, !slices.Contains(health.Roles, api.RoleOperator)
	if readOnly {
		desk = desk.ReadOnly()
	}
	who := whoIn(health)
	return show(ctx, ui.Options{
		Source: &seat{o.Store, desk, who}, Desk: desk, Who: who, ReadOnly: readOnly, Clock: o.now, Place: o.dir,
	})
}

// seat is the store as one operator sees it.
type seat struct {
	gate.Reader
	desk *escalation.Desk
	who  gate.Actor
}

// Item implements ui.Source.
func (s *seat) Item(ctx context.Context, id gate.ItemID) (escalation.Item, error) {
	return s.desk.Item(ctx, s.who, id)
}

func whoIn(h api.Health) gate.Actor {
	return gate.Actor{ID: h.Identity.ID, Name: h.Identity.Name, Source: h.Identity.Source}
}

// show shows a console on the terminal, in what it can show, as the operator
// prefers it.
func show(ctx context.Context, o ui.Options) error {
	p, err := preferences()
	if err != nil {
		return err
	}
	o.Theme = look(&p, os.Getenv)
	return ui.Run(ctx, o, os.Stdin, os.Stdout)
}
