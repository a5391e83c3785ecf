//go:build race

package runstore

const raceDetector = true
