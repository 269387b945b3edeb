package main

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// progress shows how far a conversion has come.
type progress struct {
	update func(pipeline.Progress)
	done   func()
}

// refresh is how often progress is shown.
const refresh = 200 * time.Millisecond

func newProgress(kind string, quiet bool, out io.Writer) (*progress, error) {
	if kind == "auto" {
		kind = "none"
		if f, ok := out.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
			kind = "bar"
		}
	}
	switch kind {
	case "none":
		return &progress{func(pipeline.Progress) {}, func() {}}, nil
	case "bar":
		return barProgress(out), nil
	case "json":
		return jsonProgress(out), nil
	}
	return nil, fault.New(fault.Usage, "--progress %s: choose from auto, bar, json, none", kind)
}

func barProgress(out io.Writer) *progress {
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(out), progressbar.OptionSetDescription("frames"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("frame"),
		progressbar.OptionThrottle(refresh), progressbar.OptionSetWidth(30), progressbar.OptionSetRenderBlankState(true))
	return &progress{
		update: func(p pipeline.Progress) {
			if p.Total > 0 && bar.GetMax64() != p.Total {
				bar.ChangeMax64(p.Total)
			}
			_ = bar.Set64(p.Frames) // a display that fails must not stop the work
		},
		done: func() {
			_ = bar.Exit()
			_, _ = io.WriteString(out, "\n")
		},
	}
}

// jsonProgress writes one object a line: frames, total (0 if unknown), and
// seconds since the start.
func jsonProgress(out io.Writer) *progress {
	began, shown := time.Now(), time.Time{}
	var last pipeline.Progress
	show := func() {
		shown = time.Now()
		_ = json.NewEncoder(out).Encode(struct {
			Frames  int64   `json:"frames"`
			Total   int64   `json:"total"`
			Seconds float64 `json:"seconds"`
		}{last.Frames, last.Total, time.Since(began).Seconds()})
	}
	return &progress{
		update: func(p pipeline.Progress) {
			last = p
			if time.Since(shown) >= refresh {
				show()
			}
		},
		done: show,
	}
}
