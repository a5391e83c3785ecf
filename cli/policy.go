package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"tollgate/fixtures"
	"tollgate/gate"
)

func (a *app) policyCommand() *cobra.Command {
	return family("policy", "Check a contract file, and explain what it says of a code", groupPeople,
		a.policyCheckCommand(), a.policyExplainCommand())
}

// contractRow sums up a contract file.
type contractRow struct {
	File         string `json:"file"`
	Contract     string `json:"contract"` // its digest, as in each decision
	Policies     int    `json:"policies"` // the starter among them
	Tools        int    `json:"tools"`
	Dependencies int    `json:"dependencies"`
	Codes        int    `json:"codes"` // for all
}

func (a *app) policyCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Check a contract file; an error names line and column",
		Args:  takes("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := readContract(args[0])
			if err != nil {
				return err
			}
			doc, err := c.Document()
			if err != nil {
				return err
			}
			row := contractRow{
				File: args[0], Contract: gate.DocumentDigest(doc).String(), Policies: len(c.Policies),
				Tools: len(c.Tools), Dependencies: len(c.Dependencies), Codes: len(c.Codes),
			}
			if a.json {
				return a.object(row)
			}
			return a.say("%s is a contract: %s, %s, %s; digest %s", row.File, count(row.Policies, "policy", "policies"),
				count(row.Tools, "tool", "tools"), count(row.Dependencies, "dependency", "dependencies"), row.Contract)
		},
	}
}

// readContract reads a contract file.
func readContract(file string) (*gate.Contract, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return fixtures.DecodeContract(file, data)
}

// maxFile bounds what is read of an input file; the decoders take less, and
// say so.
const maxFile = 4 << 20

// readFile reads an input file. One that cannot be read is bad input.
func readFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault{code: exitUsage, err: fmt.Errorf("no file at %q", file)}
	case err != nil:
		return nil, &fault{code: exitUsage, err: err}
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, &fault{code: exitUsage, err: fmt.Errorf("%q is a directory, want a file", file)}
	case err != nil:
		return nil, &fault{code: exitUsage, err: err}
	case len(data) > maxFile:
		return nil, &fault{code: exitUsage, err: fmt.Errorf("%q has more than %d bytes", file, maxFile)}
	}
	return data, nil
}

// readContract returns the contract of the file, or, where none is named and
// the default one does not exist, the starter policy with an empty catalog.
func (p place) readContract() (c *gate.Contract, named bool, err error) {
	file, err := p.contractFile()
	switch {
	case err != nil:
		return nil, false, err
	case file == "":
		return gate.NewContract(), false, nil
	}
	c, err = readContract(file)
	return c, true, err
}

// count prints a count with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
