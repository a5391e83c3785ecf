package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tollgate/api"
)

// place says where the gate is: as the flags give it, empty where they do not.
type place struct {
	store    string // --store: a directory
	socket   string // --socket
	contract string // --contract: a file
}

// clientFlags adds the flags of a command that talks to a gate: to the owner's
// socket if it answers, and else to a store that it opens for the moment.
func (a *app) clientFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.at.store, "store", "", "the store's directory (default: the socket if it answers, else the default store)")
	f.StringVar(&a.at.socket, "socket", "", "the socket of a gate that runs")
	f.StringVar(&a.at.contract, "contract", "", "contract file, where this command opens the store itself (without any: the contract in force)")
}

// ownerFlags adds the flags of a command that owns a store and serves it.
// socket says what its socket is for.
func (a *app) ownerFlags(cmd *cobra.Command, socket string) {
	f := cmd.Flags()
	a.storeFlag(cmd)
	f.StringVar(&a.at.socket, "socket", "", socket)
	f.StringVar(&a.at.contract, "contract", "", "contract file: what the gate decides by (default: $XDG_CONFIG_HOME/tollgate/contract.yaml, else below ~/.config)")
}

// storeFlag adds the flag of a command that opens a store itself.
func (a *app) storeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.at.store, "store", "", "the store's directory (default: $XDG_STATE_HOME/tollgate, else below ~/.local/state)")
}

// home returns a directory of the XDG base directory specification: what the
// variable names, or else a directory below the home directory.
func home(variable, below string) (string, error) {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir, nil
	}
	dir, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(dir) {
		return "", &fault{
			code: exitNoStore, err: fmt.Errorf("neither %s nor HOME names a directory", variable),
			hint: "name the place with --store or --socket, and the contract with --contract",
		}
	}
	return filepath.Join(dir, below), nil
}

// storeDir returns the store's directory.
func (p place) storeDir() (string, error) {
	if p.store != "" {
		return p.store, nil
	}
	state, err := home("XDG_STATE_HOME", ".local/state")
	return filepath.Join(state, "tollgate"), err
}

// socketPath returns the socket that the owner of the store serves. Any but
// the default store has its socket beside its files, so that two owners never
// meet.
func (p place) socketPath() (string, error) {
	if p.socket != "" {
		return p.socket, api.CheckPath(p.socket)
	}
	usual, err := place{}.storeDir()
	if err != nil && p.store == "" {
		return "", err
	}
	path := filepath.Join(p.store, socketName)
	if abs, _ := filepath.Abs(p.store); p.store == "" || abs == usual {
		path = api.DefaultSocket(usual)
	}
	return path, api.CheckPath(path)
}

const socketName = "gate.sock"

// contractFile returns the contract file, empty when none is named and the
// default one does not exist.
func (p place) contractFile() (string, error) {
	if p.contract != "" {
		return p.contract, nil
	}
	config, err := home("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return "", nil //nolint:nilerr // without a home there is no default file, which is no error
	}
	path := filepath.Join(config, "tollgate", "contract.yaml")
	switch _, err := os.Stat(path); {
	case err == nil:
		return path, nil
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	default:
		return "", &fault{code: exitUsage, err: fmt.Errorf("contract: %w", err)}
	}
}
