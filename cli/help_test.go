package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every example is a call that its command takes.
func TestExamples(t *testing.T) {
	var examples []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			examples = append(examples, strings.TrimSpace(line))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&app{out: io.Discard, errs: io.Discard}).root())
	if len(examples) < 10 {
		t.Fatalf("found %d examples, want those of every larger command", len(examples))
	}
	for _, example := range examples {
		t.Run(example, func(t *testing.T) {
			away(t)
			root := (&app{in: strings.NewReader(""), out: io.Discard, errs: io.Discard}).root()
			words := shellWords(example)
			if words[0] != "tollgate" {
				t.Fatalf("%q is no call of tollgate", example)
			}
			cmd, args, err := root.Find(words[1:])
			if err == nil {
				err = cmd.ParseFlags(args)
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err == nil && cmd.PreRunE != nil {
				err = cmd.PreRunE(cmd, cmd.Flags().Args())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// shellWords splits a line as a shell does, with single quotes only.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
