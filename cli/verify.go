package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"tollgate/gate"
	"tollgate/runstore"
)

// verifiedRow says what a verification looked at and found.
type verifiedRow struct {
	Store    string       `json:"store"`
	Realm    string       `json:"realm"`
	Seq      uint64       `json:"seq"`
	Head     string       `json:"head"`
	Full     bool         `json:"full"`
	Decided  uint64       `json:"decided"` // decisions that were decided again
	Rows     int64        `json:"rows"`    // that were compared with the ledger
	Passed   bool         `json:"passed"`
	Findings []findingRow `json:"findings"`       // at most 100
	More     bool         `json:"more,omitempty"` // there were more
}

type findingRow struct {
	Seq   uint64 `json:"seq,omitempty"`
	Where string `json:"where"`
	Says  string `json:"says"`
}

func (a *app) verifyCommand() *cobra.Command {
	var quick, full bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the ledger is whole, and that everything else follows from it",
		Long: `Check that the ledger is whole, and that everything else follows from it. --quick
looks at every page, every checksum and every checkpoint, and walks the chain of
hashes. --full, the default, also decides each decision again from its inputs, folds
the ledger anew, and compares every counter, state and index; meanwhile it needs as
much room in the store's directory as projection.db has.

The store must have no owner meanwhile. The exit code is 5 when something is wrong.`,
		Example: `  tollgate verify --store ./store`,
		GroupID: groupStore,
		Args:    noArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if quick && full {
				return misused(cmd, "--quick and --full: want one of them, got both")
			}
			return nil
		},
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		dir, err := a.at.storeDir()
		if err != nil {
			return err
		}
		store, err := openStore(dir)
		switch {
		case errors.Is(err, gate.ErrDamaged): // so damaged that it does not open
			return a.verified(verifiedRow{Store: dir, Full: !quick, Findings: []findingRow{{Where: "open", Says: err.Error()}}})
		case err != nil:
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		v, err := store.Verify(cmd.Context(), !quick)
		if err != nil {
			return err
		}
		return a.verified(verifiedOf(dir, !quick, &v))
	}
	a.storeFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&quick, "quick", false, "pages, checksums, checkpoints and the chain only")
	f.BoolVar(&full, "full", false, "also decide and fold everything again (the default)")
	return cmd
}

func verifiedOf(dir string, full bool, v *runstore.Verification) verifiedRow {
	row := verifiedRow{
		Store: dir, Realm: v.Realm, Seq: v.Seq, Head: v.Hash.String(), Full: full, Decided: v.Decided, Rows: v.Rows,
		Passed: len(v.Findings) == 0, Findings: []findingRow{}, More: v.More,
	}
	for _, f := range v.Findings {
		row.Findings = append(row.Findings, findingRow{f.Seq, f.Where, f.Says})
	}
	return row
}

// verified prints what a verification came to.
func (a *app) verified(row verifiedRow) error {
	err := func() error {
		if a.json {
			return a.object(row)
		}
		for _, f := range row.Findings {
			at := ""
			if f.Seq > 0 {
				at = ", seq " + strconv.FormatUint(f.Seq, 10)
			}
			a.warn("%s%s: %s", f.Where, at, f.Says)
		}
		if !row.Passed {
			more := ""
			if row.More {
				more = " or more"
			}
			return a.say("%s: not whole: %s%s", row.Store, count(len(row.Findings), "finding", "findings"), more)
		}
		whole := fmt.Sprintf("whole up to seq %d", row.Seq)
		if row.Head != "" {
			whole += ", head " + row.Head
		}
		if !row.Full {
			return a.say("%s: pages, checksums and chain %s", row.Store, whole)
		}
		return a.say("%s: %s; %d decisions decided again, %d rows compared", row.Store, whole, row.Decided, row.Rows)
	}()
	if err == nil && !row.Passed {
		return silent(exitUnverified)
	}
	return err
}
