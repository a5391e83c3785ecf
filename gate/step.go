package gate

// Step decides one command on a state. It is the only maker of Transitions.
//
// An error means that the command is no decision: it names what does not
// exist, or reuses an id with another body. Nothing is charged and nothing is
// recorded then. A stop is not an error.
//
// Step changes nothing in s. It has no clock and no randomness: in holds both.
func Step(s State, c Command, in Inputs) (Transition, error) {
	return Transition{}, ErrNoRun
}

// ChecksOf returns the steps that an approve would pass or not.
func ChecksOf(s State, v Verb, in Inputs) ([]Check, error) { return nil, nil }
