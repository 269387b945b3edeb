package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	say := func(words string) string { return strings.ReplaceAll(words, "Timing.From", "--from") }
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	file := "Timing.From" // as somebody may call one
	refused := New(Usage, "Timing.From %s: too late", file)
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("Timing.From"), "Timing.From"},
		{refused, "--from Timing.From: too late"},
		{New(Usage, "input %q: %w%s", file, refused, Words("; leave out Timing.From")), `input "Timing.From": --from Timing.From: too late; leave out --from`},
		{New(BadData, "%w", errors.New("Timing.From")), "Timing.From"},
		{New(Usage, "%s %d %%", Words("Timing.From"), 3), "--from 3 %"},
		{fmt.Errorf("%s: %w (!)", file, refused), "Timing.From: --from Timing.From: too late (!)"},
		{&Error{Kind: Usage, Err: refused}, "--from Timing.From: too late"},
		{Cancel(ctx, "stopped; Timing.From continues %s", file), "stopped; --from continues Timing.From"},
	} {
		if got := Text(c.err, say); got != c.want {
			t.Errorf("%v: got %s, want %s", c.err, got, c.want)
		}
	}
	if err := refused; err.Error() != "Timing.From Timing.From: too late" {
		t.Errorf("the library's own text changed: %v", err)
	}
}
