// Command tollgate is a terminal operations console for the retry budgets of
// agent tool calls.
package main

import (
	"os"

	"tollgate/cli"
)

func main() { os.Exit(cli.Main()) }
