package escalation

import (
	"time"

	"tollgate/gate"
)

// Claim is a lease on deciding an item. Deciding needs none, but while another
// person's holds it takes an explicit take-over (R-P7).
type Claim struct {
	By    string    `json:"by"` // the holder's name, or id
	ID    string    `json:"id"`
	Until time.Time `json:"until"`
}

// ClaimOf returns the lease on an item, nil if there is none or it has run
// out. It holds up to Until, that instant left out.
func ClaimOf(row gate.ItemRow, now time.Time) *Claim {
	if row.ClaimID == "" || !now.Before(row.ClaimUntil.Time) {
		return nil
	}
	return &Claim{By: row.ClaimBy, ID: row.ClaimID, Until: row.ClaimUntil.Time}
}

// HeldAgainst reports whether somebody else's lease stands between an identity
// and a decision.
func HeldAgainst(row gate.ItemRow, who gate.Actor, now time.Time) bool {
	c := ClaimOf(row, now)
	return c != nil && c.ID != who.ID
}
