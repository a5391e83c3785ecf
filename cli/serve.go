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
		Example: `  tollgate serve --store ./store --socket ./gate.sock --contract contract.yaml`,
		GroupID: groupStore,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	a.ownerFlags(cmd, "the socket to serve (default: of the default store $XDG_RUNTIME_DIR/tollgate/gate.sock, else gate.sock in the store)")
	return cmd
}

func (a *app) serve(ctx context.Context) error {
	path, err := a.at.socketPath()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(a.errs, nil))
	o, server, err := a.at.ownAndServe(ctx, path, log)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { o.sweep(ctx, log) })
	if len(o.door.Contract().Tools) == 0 {
		a.warn("the catalog is empty, so every tool is refused: --contract names a file that lists tools")
	}
	row := servingRow{Store: o.dir, Socket: path, PID: os.Getpid()}
	if a.json {
		err = a.object(row)
	} else {
		err = a.say("serving the store at %s on the socket %s, process %d", row.Store, row.Socket, row.PID)
	}
	if err == nil {
		a.reload(ctx, o, server, log)
	}
	stop()
	err = errors.Join(err, server.close())
	wg.Wait()
	return errors.Join(err, o.Close())
}

// reload reads the contract again at every SIGHUP, until ctx or the server ends.
func (a *app) reload(ctx context.Context, o *owner, server *serving, log *slog.Logger) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-ctx.Done():
			return
		case <-server.done:
			return
		case <-hangups:
		}
		contract, _, err := a.at.readContract()
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

// serving is a server at work.
type serving struct {
	stop func()
	done chan struct{} // closed when it has ended
	err  error         // why, once it has
}

// ownAndServe owns the store and serves it.
func (p place) ownAndServe(ctx context.Context, path string, log *slog.Logger) (*owner, *serving, error) {
	o, err := p.own(ctx, log)
	if err != nil {
		return nil, nil, err
	}
	server, err := o.serve(path)
	if err != nil {
		return nil, nil, errors.Join(err, o.Close())
	}
	return o, server, nil
}

// serve serves the API on a socket, from now on until it is closed.
func (o *owner) serve(path string) (*serving, error) {
	l, err := api.Listen(path)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &serving{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = safely(func() error { return o.server.Serve(ctx, l) })
	}()
	return s, nil
}

// close answers what is under way and stops.
func (s *serving) close() error {
	s.stop()
	<-s.done
	return s.err
}
