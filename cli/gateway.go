package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tollgate/api"
	"tollgate/gate"
)

// gateway is a gate to talk to, as long as one command takes. It is always at
// the other end of a socket, so that identity, roles and bounds are the same
// whoever owns the store.
type gateway struct {
	*api.Client
	close func() error
}

// answerWithin is how long an owner may take to show that it lives. One that
// is stopped, or hangs, is as good as none.
const answerWithin = time.Second

// reading runs a command that only reads: from the owner of the store, or from
// the store itself, in which it changes nothing.
func (a *app) reading(run func(cmd *cobra.Command, r gate.Reader, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		client, err := a.at.dial(cmd)
		switch {
		case err != nil:
			return err
		case client != nil:
			return errors.Join(run(cmd, client, args), client.Close())
		}
		store, err := a.at.openStore()
		if err != nil {
			return err
		}
		return errors.Join(run(cmd, store, args), store.Close())
	}
}

// calling runs a command that asks something of the gate: of the owner's, or
// of one that this process opens for the moment.
func (a *app) calling(run func(cmd *cobra.Command, g *gateway, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		g, err := a.connect(cmd)
		if err != nil {
			return err
		}
		return errors.Join(run(cmd, g, args), g.close())
	}
}

func (a *app) connect(cmd *cobra.Command) (*gateway, error) {
	client, err := a.at.dial(cmd)
	switch {
	case err != nil:
		return nil, err
	case client != nil:
		return &gateway{client, client.Close}, nil
	}
	return a.at.openGateway(cmd.Context())
}

// dial returns a client of the gate that answers; nil when none does, and the
// flags leave it open who owns the store.
func (p place) dial(cmd *cobra.Command) (*api.Client, error) {
	if p.socket != "" && p.store != "" {
		return nil, misused(cmd, "--store and --socket: want one of them, got both")
	}
	path, err := p.socketPath()
	switch {
	case errors.Is(err, api.ErrPathTooLong) && p.socket == "":
		return nil, nil // nobody can listen there
	case err != nil:
		return nil, err
	}
	client, err := p.answering(cmd, path)
	if client == nil && err == nil && p.socket != "" {
		err = unanswered(path)
	}
	return client, err
}

// unanswered is that nobody answers on a socket that was named.
func unanswered(path string) error {
	return &fault{code: exitNoStore, err: fmt.Errorf("socket %q: %w", path, api.ErrUnreachable), hint: "tollgate serve runs a gate"}
}

// answering returns a client of the gate on a socket; nil when none answers.
func (p place) answering(cmd *cobra.Command, path string) (*api.Client, error) {
	ctx, stop := context.WithTimeout(cmd.Context(), answerWithin)
	defer stop()
	client := api.NewClient(path)
	switch _, err := client.Health(ctx); {
	case errors.Is(err, api.ErrDenied):
		return nil, errors.Join(err, client.Close())
	case err != nil:
		return nil, client.Close()
	case p.contract != "":
		return nil, errors.Join(misused(cmd, "--contract: the gate on socket %q is running, with a contract of its own", path), client.Close())
	}
	return client, nil
}

// openGateway opens the store, and a gate on a socket that only this process
// knows of.
func (p place) openGateway(ctx context.Context) (_ *gateway, err error) {
	o, err := p.ownForNow(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tollgate-")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("place for a socket: %w", err), o.Close())
	}
	path := filepath.Join(dir, socketName)
	server, err := o.serve(path)
	if err != nil {
		return nil, errors.Join(err, o.Close(), os.RemoveAll(dir))
	}
	client := api.NewClient(path)
	return &gateway{client, func() error {
		return errors.Join(client.Close(), server.close(), o.Close(), os.RemoveAll(dir))
	}}, nil
}
