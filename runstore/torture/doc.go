// Package torture is the hard end of the store's tests: it kills the owner
// under load, makes the disk fail under it, and looks at what is left.
//
//	go test -run Kill ./runstore/torture -cycles=200
//	go test -skip Kill ./runstore/torture -long
//
// There is nothing in it but tests.
package torture
