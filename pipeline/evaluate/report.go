package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"retime/pipeline"
)

// Schema is the version of report.json, which docs/evaluate.md describes.
const Schema = 1

// Report is what an evaluation found. It is written as report.json by
// WriteJSON and as report.html, with pictures, by WriteHTML.
type Report struct {
	Schema  int      `json:"schema"`
	Made    string   `json:"made"` // when, in UTC, RFC 3339
	Note    string   `json:"note"`
	Verdict []string `json:"verdict"` // in words, a line for each setting
	Clip    Clip     `json:"clip"`
	Every   int      `json:"every"` // one frame in so many is held out
	Threads int      `json:"threads"`
	Methods []Method `json:"methods"` // the settings, then the peers
	Shots   []Shot   `json:"shots"`
	Frames  []Frame  `json:"frames"` // that were held out
	Worst   []int    `json:"worst"`  // indices into Frames, the worst of the first method first

	exhibits []*exhibit
}

// Clip describes the part of the input that was read.
type Clip struct {
	Input  string  `json:"input"`
	Codec  string  `json:"codec"`
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Format string  `json:"format"`
	Plane  string  `json:"plane"`  // that *_y figures are of: luma, gray, or green
	Rate   string  `json:"rate"`   // frames per second, as a fraction
	FPS    float64 `json:"fps"`    // the same as a number
	Varies bool    `json:"varies"` // Rate is a mean
	From   Seconds `json:"from"`   // of the first frame
	To     Seconds `json:"to"`     // of the last frame
	Frames int     `json:"frames"` // read
	Damage string  `json:"damage,omitempty"`
}

// Method is one way in which the frames were made.
type Method struct {
	Name            string            `json:"name"`
	Kind            string            `json:"kind"` // retime or peer
	Values          map[string]string `json:"values"`
	SecondsPerFrame float64           `json:"seconds_per_frame"`
	TimedFrames     int               `json:"timed_frames"`
	Total           Summary           `json:"total"`
	WithinShots     Summary           `json:"within_shots"` // without frames across a cut
	Shots           []Summary         `json:"per_shot"`     // beside Report.Shots
	Frames          Series            `json:"per_frame"`    // beside Report.Frames
}

// Shot is a run of frames without a cut.
type Shot struct {
	From   Seconds `json:"from"`
	To     Seconds `json:"to"`
	Frames int     `json:"frames"` // held out in it
}

// Frame is a frame that was held out.
type Frame struct {
	Index     int     `json:"index"` // in the part, from 0
	Time      Seconds `json:"time"`
	Shot      int     `json:"shot"`
	AcrossCut bool    `json:"across_cut"` // a cut lies between its neighbours
}

// Summary holds a method's figures over several frames. PSNRY and PSNR pool
// the squared errors as FFmpeg's psnr filter does; the others are means, and
// the least, over frames.
type Summary struct {
	Frames    int     `json:"frames"`
	PSNRY     Decibel `json:"psnr_y"`
	PSNR      Decibel `json:"psnr"`
	PSNRYMean Decibel `json:"psnr_y_mean"` // each frame counts for at most 100 dB
	PSNRYMin  Decibel `json:"psnr_y_min"`
	SSIMY     Ratio   `json:"ssim_y"`
	SSIM      Ratio   `json:"ssim"`
	VIF       Ratio   `json:"vif"`
}

// Series holds a method's figures for each frame.
type Series struct {
	PSNRY []Decibel `json:"psnr_y"`
	PSNR  []Decibel `json:"psnr"`
	SSIMY []Ratio   `json:"ssim_y"`
	SSIM  []Ratio   `json:"ssim"`
	VIF   []Ratio   `json:"vif"`
	// Confidence is what retime itself expects of each frame, from 0 to 1, and How
	// is pipeline.Record's method; only of settings that estimate optical flow.
	Confidence []Ratio           `json:"confidence,omitempty"`
	How        []pipeline.Method `json:"how,omitempty"`
}

// Decibel is written with three decimals, and as null where it is infinite.
type Decibel float64

// Ratio is written with five decimals, and as null where it was not measured.
type Ratio float64

// Seconds are written with six decimals.
type Seconds float64

// MarshalJSON writes d as JSON.
func (d Decibel) MarshalJSON() ([]byte, error) { return number(float64(d), 3), nil }

// MarshalJSON writes r as JSON.
func (r Ratio) MarshalJSON() ([]byte, error) { return number(float64(r), 5), nil }

// MarshalJSON writes s as JSON.
func (s Seconds) MarshalJSON() ([]byte, error) { return number(float64(s), 6), nil }

func number(v float64, decimals int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null")
	}
	return strconv.AppendFloat(nil, v, 'f', decimals, 64)
}

// WriteJSON writes the report without its pictures.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// report puts together what the trials found.
func (e *evaluation) report(now time.Time) *Report {
	c := e.clip
	r := &Report{
		Schema: Schema, Made: now.UTC().Format(time.RFC3339), Clip: c.describe(), Every: e.o.Every, Threads: e.o.workers().Count(),
		Note: "The gap around a held-out frame, and so the motion across it, is twice what it is in use, so these figures " +
			"are pessimistic. They rank methods and show where a clip is hard; frames made for the clip itself come out better.",
		Worst: []int{}, exhibits: e.gallery.exhibits,
	}
	for i, f := range c.frames {
		if f.shot == len(r.Shots) {
			r.Shots = append(r.Shots, Shot{From: Seconds(c.seconds(i))})
		}
		r.Shots[f.shot].To = Seconds(c.seconds(i))
	}
	for _, i := range c.held {
		shot := c.frames[i].shot
		r.Frames = append(r.Frames, Frame{i, Seconds(c.seconds(i)), shot, c.acrossCut(i)})
		r.Shots[shot].Frames++
	}
	for i := range e.methods {
		r.Methods = append(r.Methods, e.result(i, r))
	}
	for _, x := range e.gallery.exhibits {
		r.Worst = append(r.Worst, x.held)
	}
	r.Verdict = r.judge()
	return r
}

// result sums up method i over r's frames and shots.
func (e *evaluation) result(i int, r *Report) Method {
	m, scores, peak := e.methods[i], e.scores[i], e.clip.video.Format.Max()
	out := Method{
		Name: m.name, Kind: string(m.kind), Values: m.values,
		SecondsPerFrame: e.timings[i].perFrame(), TimedFrames: e.timings[i].frames, Total: summarise(scores, peak),
	}
	var within []Score
	for k, s := range scores {
		if !r.Frames[k].AcrossCut {
			within = append(within, s)
		}
		f := &out.Frames
		f.PSNRY, f.PSNR = append(f.PSNRY, psnr(s.MSEY, peak)), append(f.PSNR, psnr(s.MSE, peak))
		f.SSIMY, f.SSIM = append(f.SSIMY, Ratio(s.SSIMY)), append(f.SSIM, Ratio(s.SSIM))
		f.VIF = append(f.VIF, Ratio(s.VIF))
	}
	if m.flow != nil {
		for _, record := range e.records[i] {
			out.Frames.Confidence = append(out.Frames.Confidence, Ratio(record.Confidence))
			out.Frames.How = append(out.Frames.How, record.Method)
		}
	}
	out.WithinShots = summarise(within, peak)
	for _, shot := range r.Shots {
		out.Shots = append(out.Shots, summarise(scores[:shot.Frames], peak))
		scores = scores[shot.Frames:]
	}
	return out
}

func (c *clip) describe() Clip {
	fps, _ := c.rate.Float64()
	d := Clip{
		Input: c.o.Input, Codec: c.source.Codec, Width: c.video.Width, Height: c.video.Height, Format: c.source.Source, Plane: "luma",
		Rate: c.rate.RatString(), FPS: fps, Varies: c.varies,
		From: Seconds(c.seconds(0)), To: Seconds(c.seconds(len(c.frames) - 1)), Frames: len(c.frames),
	}
	switch f := c.video.Format; {
	case f.RGB:
		d.Plane = "green"
	case f.Planes < 3:
		d.Plane = "gray"
	}
	if c.damage != nil {
		d.Damage = c.damage.Error()
	}
	return d
}

// maxDecibel is what a frame without any error counts for in a mean.
const maxDecibel = 100

func summarise(scores []Score, peak int) Summary {
	n := float64(len(scores))
	if n == 0 {
		nan := math.NaN()
		return Summary{0, Decibel(nan), Decibel(nan), Decibel(nan), Decibel(nan), Ratio(nan), Ratio(nan), Ratio(nan)}
	}
	s := Summary{Frames: len(scores), PSNRYMin: Decibel(math.Inf(1))}
	var mseY, mse, mean, ssimY, ssim, vif float64
	for _, x := range scores {
		p := psnr(x.MSEY, peak)
		s.PSNRYMin = min(s.PSNRYMin, p)
		mean += min(float64(p), maxDecibel)
		mseY += x.MSEY
		mse += x.MSE
		ssimY += x.SSIMY
		ssim += x.SSIM
		vif += x.VIF
	}
	s.PSNRY, s.PSNR, s.PSNRYMean = psnr(mseY/n, peak), psnr(mse/n, peak), Decibel(mean/n)
	s.SSIMY, s.SSIM, s.VIF = Ratio(ssimY/n), Ratio(ssim/n), Ratio(vif/n)
	return s
}

// judge says how each setting compares with the peer that does best.
func (r *Report) judge() (lines []string) {
	var peers []Method
	for _, m := range r.Methods {
		if m.Kind == string(kindPeer) {
			peers = append(peers, m)
		}
	}
	byPSNR := func(a, b Method) int { return cmp.Compare(a.Total.PSNRY, b.Total.PSNRY) }
	for _, m := range r.Methods {
		if m.Kind != string(kindRetime) {
			continue
		}
		line := fmt.Sprintf("%s makes a frame at %.2f dB PSNR (%s) in %.3f s", m.Name, m.Total.PSNRY, r.Clip.Plane, m.SecondsPerFrame)
		if len(peers) > 0 {
			best := slices.MaxFunc(peers, byPSNR)
			d := float64(m.Total.PSNRY - best.Total.PSNRY)
			switch {
			case math.Abs(d) < 0.005 || math.IsNaN(d):
				line += fmt.Sprintf(", level with the best peer, %s", best.Name)
			case d > 0:
				line += fmt.Sprintf(", %.2f dB above the best peer, %s", d, best.Name)
			default:
				line += fmt.Sprintf(", %.2f dB below the best peer, %s", -d, best.Name)
			}
		}
		lines = append(lines, line+".")
	}
	return lines
}
