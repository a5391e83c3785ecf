// Package views turns values into text: pure functions from plain values, a
// size and a time to what a terminal shows. It knows no store and no program
// around it, has no clock of its own, and keeps nothing between two calls.
package views
