package gate

import "fmt"

// Step decides one command on a state. It is the only maker of Transitions.
//
// An error means that the command is no decision: it names what does not
// exist, or reuses an id with another body. Nothing is charged and nothing is
// recorded then. A stop is not an error.
//
// Step changes nothing in s. It has no clock and no randomness: in holds both.
func Step(s State, c Command, in Inputs) (Transition, error) {
	switch c := c.(type) {
	case Adopt:
		return stepAdopt(c, in)
	case Start:
		return stepStart(&s, c, in)
	case Ask:
		return stepAsk(&s, c, in)
	case Report:
		return stepReport(&s, c, in)
	case Sweep:
		return stepSweep(&s, c, in)
	case End:
		return stepEnd(&s, c, in)
	case Verb:
		return stepVerb(&s, c, in)
	default:
		return Transition{}, &InputError{Field: "command", Want: "one that the gate knows", Got: fmt.Sprintf("%T", c)}
	}
}
