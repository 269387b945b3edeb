// Package ratings measures how well the ratings of made frames find those that are wrong: it leaves every second
// frame of clips out, remakes it, and compares it with the truth.
package ratings

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// Options configure Run.
type Options struct {
	Clips   string // a pattern of file names, as for path/filepath.Match
	Preset  pipeline.Preset
	Skip    int // how many frames to skip at the start of each clip: 1 leaves out the other half
	Threads int // 0 for one per processor
	Verbose bool
}

// A frame is doubtful below the score doubtful, and wrong if a square of it has a larger error than wrong, in grey
// levels RMS.
const (
	doubtful = 0.2
	wrong    = 20
)

// The truly worst frames of a clip should be among those that are rated lowest.
const (
	worst  = 3
	lowest = 10
	boxes  = 5 // of the lowest, whose squares are counted
)

// Run rates the frames of o's clips and prints a table.
func Run(ctx context.Context, out io.Writer, o Options) error {
	files, err := filepath.Glob(o.Clips)
	if err != nil || len(files) == 0 {
		return fault.New(fault.NoInput, "no clips match %q", o.Clips)
	}
	var all []rated
	var total tally
	fmt.Fprintln(out, "clip  frames  worst among the lowest  rank correlation  wrong squares  over the worst square")
	for _, name := range files {
		list, err := rateClip(ctx, name, &o)
		if err != nil {
			return fault.New(fault.KindOf(err), "clip %q: %w", name, err)
		}
		t := count(list)
		fmt.Fprintf(out, "%-28.28s %4d %2d/%d %6.2f %2d/%d %d\n", filepath.Base(name), len(list), t.found, t.sought, correlation(list), t.squares, t.shown, t.over)
		if o.Verbose {
			for _, r := range worstOf(list) {
				fmt.Fprintf(out, "    frame %d: error %.1f at %v, score %.3f at %v, rank %d\n", r.frame, r.error, r.at, r.score, r.box, rankOf(list, r))
			}
		}
		all = append(all, list...)
		total.add(t)
	}
	fmt.Fprintf(out, "%d frames: the %d worst of each clip among its %d lowest: %d of %d; rank correlation %.2f\n",
		len(all), worst, lowest, total.found, total.sought, correlation(all))
	precision, recall := doubts(all)
	fmt.Fprintf(out, "doubtful: precision %.2f, recall %.2f; the %d lowest: %d of %d squares wrong, median error %.0f; the worst frames' squares: %d over the worst place\n",
		precision, recall, boxes, total.squares, total.shown, median(total.errors), total.over)
	return nil
}
