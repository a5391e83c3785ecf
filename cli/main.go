// Package cli holds the cobra commands and the wiring, a file per command.
package cli

// Main runs the command line of the process and returns its exit code.
func Main() int { return 0 }
