package storetest_test

import (
	"context"
	"path/filepath"
	"testing"

	"tollgate/gate"
	"tollgate/runstore"
	"tollgate/runstore/memstore"
	"tollgate/runstore/storetest"
)

func TestMemstore(t *testing.T) {
	storetest.Run(t, func(*testing.T) (gate.Engine, func() gate.Engine) { return memstore.New(storetest.Realm), nil })
}

func TestRunstore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (gate.Engine, func() gate.Engine) {
		dir := filepath.Join(t.TempDir(), "store")
		if err := runstore.Init(dir, storetest.Realm); err != nil {
			t.Fatal(err)
		}
		open := func() *runstore.Store {
			s, err := runstore.Open(dir, runstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		store := open()
		t.Cleanup(func() {
			if v, err := store.Verify(context.WithoutCancel(t.Context()), true); err != nil {
				t.Error(err)
			} else {
				for _, f := range v.Findings {
					t.Error(f)
				}
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		return store, func() gate.Engine {
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			store = open()
			return store
		}
	})
}
