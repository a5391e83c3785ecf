// Package api is the agents' door and a second console's: HTTP and JSON on a
// Unix socket, served by whoever owns the store.
//
//	POST /v1/runs                          start, or find, a run
//	GET  /v1/runs  /v1/runs/{run}          windows of runs; one whole
//	POST /v1/runs/{run}/ask                may this operation be dispatched now?
//	POST /v1/runs/{run}/report             what became of an attempt
//	GET  /v1/runs/{run}/operations/{op}    its state; with ?wait= when it has changed
//	POST /v1/runs/{run}/end                close the run
//	GET  /v1/items  /v1/items/{id}         the queue; one item whole, with previews
//	POST /v1/items/{id}/{verb}             a person's verb
//	GET  /v1/ledger  /v1/watch             decisions; the newest seq as it grows
//	GET  /v1/dependencies  /v1/counts      readings; the numbers of the header
//	GET  /healthz  /readyz                 who answers, as whom, and whether it can
//
// A verdict is an answer, with status 200 whether it permits or stops; only
// STALE has 409. What is no decision is a problem document (RFC 9457) with a
// stable type. Answers are the rows of package gate and escalation.Item.
//
// Who calls comes from the socket, never from a body (R-P10). [Client] speaks
// the other end and gives back what the store itself would: the same rows, the
// same errors.
package api
