// Package escalation is the people's side of the gate: what waits for a
// person, in which order, who holds it, and how a person's verb becomes a
// command of the gate.
//
// Nothing here decides, and nothing here is a second truth: an [Item] is a
// projection of a run, an operation and what is known of its dependency, and
// the [Desk] sends each verb through the same gate.Door as an agent's ask
// (R-P3). What a verb would do now is the gate's own answer on a copy.
package escalation
