package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
	"time"

	"retime/pipeline"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/fault"
)

// summarise prints three lines: what was written, how many frames were shot and made, and how long
// that took. If verbose is set, it also prints the times of the stages, and why the CPU made the frames.
func summarise(w io.Writer, r *pipeline.Report, whyCPU string, verbose bool) {
	size := ""
	if info, err := os.Stat(r.Output); err == nil && info.Mode().IsRegular() {
		size = fmt.Sprintf(", %.2f MB", float64(info.Size())/1e6)
	}
	fmt.Fprintf(w, "%s: %dx%d %s, %s fps%s\n", r.Output, r.Width, r.Height, r.Written, rateText(r.Rate), size)
	fmt.Fprintf(w, "%s: %d as shot, %d made%s\n", counted(r.Frames, "frame"), r.Frames-r.Made-r.Held, r.Made, besides(r))
	if len(r.Worst) > 0 {
		fmt.Fprintf(w, "worst: %s\n", worstPlaces(r))
	}
	fmt.Fprintf(w, "%s on %s, %s\n", brief(r.Elapsed), where(r), perTime(float64(r.Frames)/max(r.Elapsed.Seconds(), 1e-3)))
	if !verbose {
		return
	}
	s := r.Stages
	load := ""
	if r.Backend == pipeline.CUDA {
		load = ", upload " + brief(s.Load)
	}
	fmt.Fprintf(w, "decode %s, flow %s%s, synthesis %s, encode %s (overlapping)\n", brief(s.Decode), brief(s.Flow), load, brief(s.Synthesis), brief(s.Encode))
	if whyCPU != "" && r.Backend != pipeline.CUDA {
		fmt.Fprintf(w, "no GPU: %s\n", whyCPU)
	}
}

// rateText formats a rate in frames per second.
func rateText(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	value, _ := r.Float64()
	return fmt.Sprintf("%.3f (%s)", value, r.RatString())
}

// besides returns the held frames, the scene cuts, the repeated frames that were retimed, and the faults of devices.
func besides(r *pipeline.Report) (text string) {
	if r.Held > 0 {
		text += fmt.Sprintf(", %d held", r.Held)
	}
	if len(r.Cuts) > 0 {
		text += ", " + counted(int64(len(r.Cuts)), "scene cut")
	}
	if r.Repeats > 0 {
		text += ", " + counted(r.Repeats, "repeated frame") + " retimed"
	}
	if r.Remade > 0 {
		text += fmt.Sprintf(", %d made again on the CPU after faults", r.Remade)
	}
	return text
}

// worstPlaces says where the worst frames are in the output and in the picture.
func worstPlaces(r *pipeline.Report) string {
	var list []string
	for _, f := range r.Worst {
		list = append(list, report.Where(time.Duration(f.Time*float64(time.Second)), f.Frame, f.Worst.Box))
	}
	return strings.Join(list, ", ")
}

// where names what made the frames.
func where(r *pipeline.Report) string {
	if r.Backend == pipeline.CUDA {
		return strings.Join(r.Devices, " and ")
	}
	return "the CPU"
}

func brief(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// outcome is the last line of --progress json.
type outcome struct {
	Output   string    `json:"output"` // empty if nothing was written
	Frames   int64     `json:"frames"`
	Shot     int64     `json:"shot"`
	Made     int64     `json:"made"`
	Held     int64     `json:"held"` // shows what the frame before shows
	Cuts     int       `json:"cuts"`
	Warnings []message `json:"warnings"`
	Seconds  float64   `json:"seconds"`
	Exit     int       `json:"exit"`
	Error    string    `json:"error,omitempty"`
}

// printOutcome prints how a conversion ended. r is nil if nothing was written.
func printOutcome(w io.Writer, r *pipeline.Report, warned []message, err error) {
	o := outcome{Warnings: append([]message{}, warned...)}
	if r != nil {
		o.Output, o.Frames, o.Made, o.Held, o.Cuts = r.Output, r.Frames, r.Made, r.Held, len(r.Cuts)
		o.Shot = r.Frames - r.Made - r.Held
		o.Seconds = r.Elapsed.Seconds()
	}
	if err != nil {
		o.Exit, o.Error = fault.ExitCode(err), said(err, nil)
	}
	_ = json.NewEncoder(w).Encode(o) // the error, if any, has its own exit code
}
