package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"tollgate/runstore"
)

// stopper ends a command once it has said something.
type stopper struct {
	bytes.Buffer
	stop func()
}

func (s *stopper) Write(b []byte) (int, error) {
	s.stop()
	return s.Buffer.Write(b)
}

// A gate that knows no tool says so when it starts, not at the first ask.
func TestServeSaysThatTheCatalogIsEmpty(t *testing.T) {
	for contract, want := range map[string]bool{"": true, "contract: 1\n": true, worldContract: false} {
		away(t)
		if err := runstore.Init("store", ""); err != nil {
			t.Fatal(err)
		}
		args := []string{"serve", "--store", "store", "--socket", t.TempDir() + "/s"}
		if contract != "" {
			if err := os.WriteFile("contract.yaml", []byte(contract), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--contract", "contract.yaml")
		}
		ctx, stop := context.WithCancel(t.Context())
		out, errs := &stopper{stop: stop}, new(bytes.Buffer)
		root := (&app{in: strings.NewReader(""), out: out, errs: errs}).root()
		root.SetArgs(args)
		if err := root.ExecuteContext(ctx); err != nil {
			t.Fatal(err)
		}
		const says = "tollgate: the catalog is empty, so every tool is refused: --contract names a file that lists tools\n"
		if got := strings.Contains(errs.String(), says); got != want {
			t.Errorf("contract %.12q: said %v, want %v: %s", contract, got, want, errs)
		}
	}
}
