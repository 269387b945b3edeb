package main

import (
	"context"
	"strings"
	"testing"

	"retime/internal/cliptest"
)

// Every second frame of a clip with a frame on either side is rated, from either of the first two on.
func TestBenchRatings(t *testing.T) {
	clip := cliptest.WriteScene(t, 96, 64, 12, 24, 1)
	for _, c := range []struct{ skip, line, summary string }{{"0", "   5  ", "5 frames: the 3 worst"}, {"1", "   5  ", "5 frames: the 3 worst"}, {"2", "   4  ", "4 frames: the 3 worst"}} {
		out, err := bench(context.Background(), "ratings", "--clips", clip, "--preset", "fast", "--threads", "2", "--verbose", "--skip", c.skip)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{c.line, c.summary, "3/3", "rank ", "doubtful: precision"} {
			if !strings.Contains(out, want) {
				t.Errorf("from frame %s on: no %q in\n%s", c.skip, want, out)
			}
		}
	}
	if _, err := bench(context.Background(), "ratings", "--clips", "/nowhere/*"); err == nil {
		t.Error("no clips, and no error")
	}
}
