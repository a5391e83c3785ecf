package runstore

import (
	"time"

	"go.etcd.io/bbolt"

	"tollgate/escalation"
	"tollgate/gate"
)

// itemsPutOff answers a query for the open items that are put off, the first to
// come back first.
func itemsPutOff(tx *bbolt.Tx, q gate.ItemsQuery) (page gate.ItemsPage, err error) {
	var anchor []byte
	row, ok, err := itemNamed(tx, gate.ItemID(q.Anchor))
	switch {
	case err != nil:
		return page, err
	case ok && escalation.Matches(q, row):
		anchor = keysOfItem(&row, place{}).snoozed
	}
	list := []span{{bucket: tx.Bucket(bucketSnoozed), from: appendMS(nil, q.Now.Add(time.Millisecond))}}
	const id = 8 // where it begins in a key, after the instant
	accept := func(k, _ []byte) (gate.ItemRow, bool, error) {
		row, ok, err := itemNamed(tx, gate.ItemID(k[min(id, len(k)):]))
		if err == nil && !ok {
			err = damaged("an item that is put off is not there")
		}
		return row, err == nil && escalation.Matches(q, row), err
	}
	if page.Rows, page.More, err = take(list, anchor, q.Window, accept); err != nil {
		return page, err
	}
	page.Above = above(anchor)
	err = list[0].each(nil, false, func(k, v []byte) (bool, error) {
		if q.Filter.IsZero() && q.Kind == 0 && q.State == gate.HoldOpen {
			page.Total++
			return true, nil
		}
		_, ok, err := accept(k, v)
		if ok {
			page.Total++
		}
		return true, err
	})
	return page, err
}
