package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore/memstore"
)

// onPipes serves a gate on connections in memory, within a bubble of time.
func onPipes(t *testing.T) *pipes {
	t.Helper()
	store := memstore.New("store-1")
	door, err := gate.NewDoor(t.Context(), store, contract(), new(clock), func() float64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	l := newPipes()
	server := NewServer(door, store, escalation.NewDesk(door, store), Options{}).http()
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		time.Sleep(time.Second) // of the bubble: net/http lingers for half of it
	})
	return l
}

// drip sends a request a byte a second and returns what was answered, and when.
func drip(t *testing.T, c net.Conn, text string) (answer string, after time.Duration) {
	t.Helper()
	began, sent := time.Now(), make(chan struct{})
	go func() {
		defer close(sent)
		for i := range len(text) {
			if _, err := io.WriteString(c, text[i:i+1]); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}()
	read, err := io.ReadAll(bufio.NewReader(c))
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	after = time.Since(began)
	_ = c.Close()
	<-sent
	return string(read), after
}

// Who sends a byte a second is cut off after five seconds, in the headers and
// in the body; nothing is charged, and nobody else waits.
func TestSlowClients(t *testing.T) {
	body := `{"run":"r1","limits":{"attempts":1,"deadline":"1s","side_effects":0}}`
	head := fmt.Sprintf("POST /v1/runs HTTP/1.1\r\nHost: gate\r\nContent-Length: %d\r\n\r\n", len(body))
	for _, row := range []struct {
		name, quick, slow, want string
	}{
		{"headers", "", head, ""},
		{"body", head, body, "HTTP/1.1 408"},
		{"a body in chunks without end", "POST /v1/runs HTTP/1.1\r\nHost: gate\r\nTransfer-Encoding: chunked\r\n\r\n", strings.Repeat("1\r\n \r\n", 9), "HTTP/1.1 408"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := onPipes(t)
				c := l.dial()
				if _, err := io.WriteString(c, row.quick); err != nil {
					t.Fatal(err)
				}
				answer, after := drip(t, c, row.slow)
				if !strings.HasPrefix(answer, row.want) {
					t.Errorf("answer = %.60q, want %q", answer, row.want)
				}
				if after < 5*time.Second || after > 6*time.Second {
					t.Errorf("cut off after %s, want 5s", after)
				}
			})
		})
	}
}

// Headers have a bound.
func TestLongHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := onPipes(t).dial()
		go func() { // the answer may come before all has been sent
			_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: gate\r\nX: "+strings.Repeat("x", 17<<10)+"\r\n\r\n")
		}()
		answer, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.HasPrefix(answer, "HTTP/1.1 431") {
			t.Errorf("answer = %q, %v; want 431", answer, err)
		}
		_ = c.Close()
	})
}

// A stream shows that it lives, and holds nobody up who does not read it.
func TestStreamThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := onPipes(t).dial()
		if _, err := io.WriteString(c, "GET /v1/watch HTTP/1.1\r\nHost: gate\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(c)
		beats := 0
		for beats < 2 && lines.Scan() {
			if lines.Text() == ":" {
				beats++
			}
		}
		if beats != 2 {
			t.Errorf("%d heartbeats, want 2", beats)
		}
		time.Sleep(time.Minute) // a beat that nobody reads ends the stream
		rest, err := io.ReadAll(c)
		if err != nil {
			t.Errorf("after %q: %v", rest, err)
		}
	})
}

// A gate that hangs keeps the connection and says nothing more: that is a break
// too.
func TestClientWatchOfAGateThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		ends := make(chan net.Conn, 1)
		ends <- ours
		c := &Client{http: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			select {
			case conn := <-ends:
				return conn, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}}}
		ctx, cancel := context.WithCancel(t.Context())
		newest := c.Watch(ctx)
		if _, err := http.ReadRequest(bufio.NewReader(theirs)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 7\n\n"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := <-newest; got != 7 {
				t.Errorf("newest = %d, want 7", got)
			}
		}
		cancel()
		for range newest { // until it is closed
		}
		_ = theirs.Close()
	})
}

// An answer waits ten seconds for somebody who does not read it.
func TestAnswerThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := onPipes(t).dial()
		if _, err := io.WriteString(c, "GET /v1/counts HTTP/1.1\r\nHost: gate\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(writeTime + time.Second)
		if text, err := io.ReadAll(c); err != nil || len(text) > 0 {
			t.Errorf("after 11s %q, %v; want a closed connection", text, err)
		}
	})
}
