package runstore_test

import (
	"os"
	"path/filepath"
	"testing"
)

// ceiling is the most that a disk lets a group commit do: one goroutine takes
// what waits, writes the records of the group with one write and one
// fdatasync, then a page with another write and another fdatasync, into a file
// that has its size already; and answers. It decides nothing, keeps nothing
// and cannot be read back.
type ceiling struct {
	file     *os.File
	at       int64 // where the next group goes
	requests chan ceilingRequest
	stopped  chan struct{}
}

type ceilingRequest struct {
	record []byte
	done   chan error // takes one answer
}

const (
	ceilingGroup = 1024 // requests, as in a block
	ceilingPage  = 4096
	ceilingSpace = 32 << 20 // for groups, after the page; used again from the start when it is full
)

// newCeiling returns a ceiling in a directory of the test's own.
func newCeiling(tb testing.TB) *ceiling {
	tb.Helper()
	f, err := os.Create(filepath.Join(tb.TempDir(), "ceiling"))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := f.Write(make([]byte, ceilingPage+ceilingSpace)); err != nil {
		tb.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		tb.Fatal(err)
	}
	c := &ceiling{file: f, at: ceilingPage, requests: make(chan ceilingRequest, ceilingGroup), stopped: make(chan struct{})}
	go c.run()
	tb.Cleanup(func() {
		close(c.requests)
		<-c.stopped
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

func (c *ceiling) run() {
	defer close(c.stopped)
	page := make([]byte, ceilingPage)
	var group []ceilingRequest
	var bytes []byte
	for r := range c.requests {
		group, bytes = append(group[:0], r), append(bytes[:0], r.record...)
		for range min(len(c.requests), ceilingGroup-1) {
			r := <-c.requests
			group, bytes = append(group, r), append(bytes, r.record...)
		}
		err := c.write(bytes, page)
		for _, r := range group {
			r.done <- err
		}
	}
}

func (c *ceiling) write(group, page []byte) error {
	if c.at+int64(len(group)) > ceilingPage+ceilingSpace {
		c.at = ceilingPage
	}
	if _, err := c.file.WriteAt(group, c.at); err != nil {
		return err
	}
	c.at += int64(len(group))
	if err := syncData(c.file); err != nil {
		return err
	}
	if _, err := c.file.WriteAt(page, 0); err != nil {
		return err
	}
	return syncData(c.file)
}
