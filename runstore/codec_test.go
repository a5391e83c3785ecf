package runstore

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

const testRealm = "000102030405060708090a0b0c0d0e0f"

var commands = []gate.Command{
	gate.Adopt{},
	gate.Start{},
	gate.Ask{},
	gate.Report{},
	gate.Sweep{},
	gate.End{},
	gate.Verb{Do: gate.ActReconcile},
	gate.Verb{Do: gate.ActApprove},
	gate.Verb{Do: gate.ActReject},
	gate.Verb{Do: gate.ActNewRun},
	gate.Verb{Do: gate.ActClaim},
	gate.Verb{Do: gate.ActRelease},
	gate.Verb{Do: gate.ActSnooze},
	gate.Verb{Do: gate.ActNote},
}

// fillIn sets every field within v to something other than zero, each with a
// chance of share; a pointer or a slice that is filled in is not empty.
func fillIn(r *rand.Rand, v reflect.Value, share float64) {
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
		if r.Float64() >= share {
			return
		}
	}
	switch v.Interface().(type) {
	case time.Time: // the gate's own are in whole milliseconds
		v.Set(reflect.ValueOf(time.UnixMilli(r.Int64N(1<<42) - 1<<30).UTC()))
		return
	case time.Duration:
		v.SetInt(1 + r.Int64N(1<<50) - 1<<49)
		return
	case gate.Digest:
		v.Set(reflect.ValueOf(gate.Digest{1: byte(1 + r.IntN(255)), 31: byte(r.IntN(256))}))
		return
	case *gate.Contract:
		return // kept by its digest
	}
	switch v.Kind() {
	case reflect.Interface: // the command, which the caller fills in
	case reflect.Struct:
		for i := range v.NumField() {
			fillIn(r, v.Field(i), share)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(r, v.Elem(), share)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(fmt.Appendf(nil, "%x", r.Uint64()))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(30), 30))
		for i := range v.Len() {
			fillIn(r, v.Index(i), share)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("%x", r.Uint64()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(1 + r.Uint64N(255))
	case reflect.Uint64:
		v.SetUint(1 + r.Uint64()>>(1+r.IntN(63)))
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + r.Int64()>>r.IntN(63))
		if r.IntN(4) == 0 {
			v.SetInt(-1 - v.Int()/2)
		}
	case reflect.Float64:
		v.SetFloat(r.Float64())
	default:
		panic("no value for " + v.Type().String())
	}
}

// randomDecision fills in a decision about a command like c. With share 1
// every field that is kept is other than zero.
func randomDecision(r *rand.Rand, c gate.Command, share float64) gate.Decision {
	var d gate.Decision
	fillIn(r, reflect.ValueOf(&d).Elem(), share)
	filled := reflect.New(reflect.TypeOf(c)).Elem()
	filled.Set(reflect.ValueOf(c))
	act := c.Act()
	fillIn(r, filled, share)
	if v, ok := filled.Interface().(gate.Verb); ok {
		v.Do = act
		if !v.Until.IsZero() { // a caller's own may have any digits
			v.Until = v.Until.Add(time.Duration(r.Int64N(1e6)))
		}
		filled.Set(reflect.ValueOf(v))
	}
	d.Command = filled.Interface().(gate.Command)
	d.Seq = 1 + r.Uint64N(1<<40)
	d.Inputs.Document, d.Inputs.Realm = d.Contract, testRealm // kept once
	d.Hash = gate.Digest{}                                    // of the record, and no part of it
	return d
}

// R-L1: whatever a decision holds comes back from the ledger, each field of
// each type; and as a program that knows no fields would write it.
func TestRecordsKeepEveryField(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	other := anyValue(t)
	for round := range 1000 {
		want := randomDecision(r, commands[round%len(commands)], []float64{1, 0.5, 0.1}[round%3])
		record := bindRecord(encodeDecision(&want), want.Prev)
		got, err := decodeRecord(want.Seq, testRealm, record)
		if err != nil {
			t.Fatalf("%v\n%x", err, record)
		}
		if diff := diffOf(want, got); diff != "" {
			t.Fatalf("decision after encoding and decoding (-want +got):\n%s", diff)
		}
		if again := other(record); !bytes.Equal(again, record) {
			t.Fatalf("record = %x\nwritten without knowing the fields = %x", record, again)
		}
	}
}

func TestRowsKeepEveryField(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	other := anyValue(t)
	for round := range 500 {
		share := []float64{1, 0.5, 0.1}[round%3]
		checkRow(t, r, share, storeRun, other)
		checkRow(t, r, share, storeOperation, other)
		checkRow(t, r, share, storeDependency, other)
	}
}

func checkRow[S stored[T], T any](t *testing.T, r *rand.Rand, share float64, store func(T) S, other func([]byte) []byte) {
	t.Helper()
	var want T
	fillIn(r, reflect.ValueOf(&want).Elem(), share)
	row := encodeRow(store(want))
	got, err := decodeRow[S](row)
	if err != nil {
		t.Fatalf("%v\n%x", err, row)
	}
	if diff := diffOf(want, got); diff != "" {
		t.Fatalf("row after encoding and decoding (-want +got):\n%s", diff)
	}
	if again := other(row); !bytes.Equal(again, row) {
		t.Fatalf("row = %x\nwritten without knowing the fields = %x", row, again)
	}
}

// diffOf is cmp.Diff, which takes its time also over what is equal.
func diffOf(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// anyValue returns a function that reads a value without knowing its fields and
// writes it again in the deterministic encoding of RFC 8949, section 4.2.
func anyValue(t *testing.T) func([]byte) []byte {
	t.Helper()
	dec, err := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF}.DecMode()
	if err != nil {
		t.Fatal(err)
	}
	enc, err := cbor.EncOptions{Sort: cbor.SortBytewiseLexical}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	return func(b []byte) []byte {
		var v any
		if err := dec.Unmarshal(b, &v); err != nil {
			t.Fatalf("%v\n%x", err, b)
		}
		out, err := enc.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// The numbers of the fields are final. A record that was written once is read
// as long as there is a tollgate.
func TestRecordIsFinal(t *testing.T) {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	want := gate.Decision{
		Seq: 812, Prev: 810,
		Command: gate.Ask{Actor: gate.Actor{ID: "uid:1001", Source: "peer-uid"}, Run: "r1", ID: "a1", Op: "charge-42", Tool: "payments.charge", Input: []byte(`{"order":42}`)},
		Inputs:  gate.Inputs{Now: noon, Jitter: 0.25, Document: gate.Digest{1}, Realm: testRealm},
		Rules:   1, Contract: gate.Digest{1},
		Run: "r1", Op: "charge-42", Ordinal: 1, Tool: "payments.charge", Dependency: "payments-api",
		Key: "8f1c", Verdict: gate.Admit, Opens: true, Admission: true,
		Before: gate.Budget{MaxAttempts: 6, MaxSideEffects: 1, Started: noon, Deadline: noon.Add(30 * time.Second), Reserve: 2 * time.Second},
		Charge: gate.Counters{Attempts: 1, SideEffects: 1},
		Permit: gate.Permit{Op: "charge-42", Ordinal: 1, Key: "8f1c", NotBefore: noon, NotAfter: noon.Add(10 * time.Second), Inner: 1, Expires: noon.Add(13 * time.Second)},
	}
	const record = "8219032ab101010262723103696368617267652d3432040105a103a601a201687569643a313030310368706565722d756964026272310362613104696368617267652d3432076f7061796d656e74732e636861726765094c7b226f72646572223a34327d061b0000019b8e07460007f9340009582001000000000000000000000000000000000000000000000000000000000000000a010e6f7061796d656e74732e6368617267650f6c7061796d656e74732d61706914643866316316a501060201051b0000019b8e074600061b0000019b8e07bb30071a7735940017a2010102011818a701696368617267652d34320201036438663163041b0000019b8e074600051b0000019b8e076d100601071b0000019b8e0778c81824f51825f5"
	if got := hex.EncodeToString(bindRecord(encodeDecision(&want), want.Prev)); got != record {
		t.Errorf("record = %s\nwant     %s", got, record)
	}
	b, err := hex.DecodeString(record)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeRecord(812, testRealm, b)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("decision = %v (-want +got):\n%s", err, diff)
	}
}

// Fields of a later version are passed over.
func TestNewerFieldsArePassedOver(t *testing.T) {
	enc, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	newer, err := enc.Marshal([]any{uint64(3), map[uint64]any{
		2: "r1", 5: map[uint64]any{5: map[uint64]any{1: "r1", 2: "op", 3: map[string]any{"a": []any{1, nil, 2.5}}}}, 900: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeRecord(9, testRealm, newer)
	want := gate.Decision{Seq: 9, Prev: 3, Run: "r1", Command: gate.Sweep{Run: "r1", Op: "op"}, Inputs: gate.Inputs{Realm: testRealm}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("decision = %v (-want +got):\n%s", err, diff)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, c := range commands {
		d := randomDecision(r, c, 0.5)
		f.Add(bindRecord(encodeDecision(&d), 7))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		d, err := decodeRecord(8, testRealm, record)
		if err != nil {
			if !errors.Is(err, gate.ErrDamaged) {
				t.Errorf("err = %v, want damaged", err)
			}
			return
		}
		again, err := decodeRecord(8, testRealm, bindRecord(encodeDecision(&d), d.Prev))
		if diff := cmp.Diff(d, again); err != nil || diff != "" {
			t.Errorf("decision written and read again = %v (-first +again):\n%s", err, diff)
		}
	})
}

func BenchmarkEncodeRecord(b *testing.B) {
	d := randomDecision(rand.New(rand.NewPCG(1, 1)), gate.Ask{}, 0.4)
	b.ReportAllocs()
	for b.Loop() {
		bindRecord(encodeDecision(&d), 7)
	}
}

func BenchmarkDecodeRecord(b *testing.B) {
	d := randomDecision(rand.New(rand.NewPCG(1, 1)), gate.Ask{}, 0.4)
	record := bindRecord(encodeDecision(&d), 7)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeRecord(8, testRealm, record); err != nil {
			b.Fatal(err)
		}
	}
}
