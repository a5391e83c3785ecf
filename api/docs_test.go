package api

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"tollgate/escalation"
)

// The page about the agents' calls names every field that they take.
func TestDocsNameEveryField(t *testing.T) {
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []any{startBody{}, limitsBody{}, capBody{}, askBody{}, reportBody{}, failureBody{}, HTTPAnswer{}, endBody{}, escalation.Pick{}} {
		for f := range reflect.TypeOf(body).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if page := string(text); !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, `"`+name+`"`) {
				t.Errorf("docs/api.md lacks %s of %T", name, body)
			}
		}
	}
}
