package api

import (
	"fmt"
	"sync/atomic"
	"testing"

	"tollgate/gate"
)

// BenchmarkAsk is one ask over the socket, with the engine in memory: what
// HTTP and JSON cost beside a commit.
func BenchmarkAsk(b *testing.B) {
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(clients, " per core"), func(b *testing.B) {
			h := open(b)
			h.run("r1", gate.MaxCount)
			var n atomic.Int64
			b.SetParallelism(clients)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1)
					if _, err := h.client.Ask(b.Context(), gate.Ask{
						Run: "r1", ID: "a", Op: gate.OpID(fmt.Sprint("look-", i)), Tool: "look", Input: []byte(`{"q":"x"}`),
					}); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "asks/s")
		})
	}
}
