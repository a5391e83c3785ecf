package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"tollgate/api"
)

// servingRow says who serves what, where.
type servingRow struct {
	Store  string `json:"store"`
	Socket string `json:"socket"`
	PID    int    `json:"pid"`
}

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Own the store and serve the API on its socket, without a terminal",
		Long: `Own the store and serve the API on its socket, without a terminal, until SIGTERM or
SIGINT. SIGHUP reads the contract file again; a bad one is told and changes nothing.
The gate's own sweep runs meanwhile: what nobody reports in time is settled.`,
		GroupID: groupStore,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	a.ownerFlags(cmd)
	return cmd
}

func (a *app) serve(ctx context.Context) error {
	path, err := a.at.socketPath()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(a.errs, nil))
	o, err := a.at.own(ctx, log)
	if err != nil {
		return err
	}
	stop, err := o.serve(ctx, path)
	if err != nil {
		return errors.Join(err, o.Close())
	}
	var wg sync.WaitGroup
	wg.Go(func() { o.sweep(ctx, log) })
	row := servingRow{Store: o.dir, Socket: path, PID: os.Getpid()}
	if a.json {
		err = a.object(row)
	} else {
		err = a.say("serving the store at %s on the socket %s, process %d", row.Store, row.Socket, row.PID)
	}
	if err == nil {
		a.reload(ctx, o, log)
	}
	err = errors.Join(err, stop())
	wg.Wait()
	return errors.Join(err, o.Close())
}

// reload reads the contract again at every SIGHUP, until ctx ends.
func (a *app) reload(ctx context.Context, o *owner, log *slog.Logger) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		}
		contract, err := a.at.readContract()
		if err == nil {
			err = o.door.Adopt(ctx, contract)
		}
		if err != nil {
			log.Error("the contract stays as it was", "error", err.Error())
			continue
		}
		log.Info("the contract has been read again")
	}
}

// serve serves the API on a socket. stop ends it and returns what went wrong.
func (o *owner) serve(ctx context.Context, path string) (stop func() error, err error) {
	l, err := api.Listen(path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- safely(func() error { return o.server.Serve(ctx, l) }) }()
	return func() error {
		cancel()
		return <-done
	}, nil
}
