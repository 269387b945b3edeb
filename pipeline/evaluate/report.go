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

// Schema is the version of the format of report.json, which docs/evaluate.md describes.
const Schema = 1

// Report is the result of an evaluation. WriteJSON writes it as report.json, WriteHTML
// as report.html with pictures.
type Report struct {
	Schema  int      `json:"schema"`
	Made    string   `json:"made"` // in UTC, as in RFC 3339
	Note    string   `json:"note"`
	Verdict []string `json:"verdict"` // a sentence for each setting
	Clip    Clip     `json:"clip"`
	Every   int      `json:"every"` // every so many frames, one is held out
	Threads int      `json:"threads"`
	Methods []Method `json:"methods"` // the settings, then the peers
	// Failed are the peers that are left out because they failed.
	Failed []Failure `json:"failed,omitempty"`
	Shots  []Shot    `json:"shots"`
	Frames []Frame   `json:"frames"` // the held-out frames
	Worst  []int     `json:"worst"`  // indices into Frames, from the frame that the first method makes worst

	exhibits []*exhibit
}

// Clip describes the part of the input that was read. Its times are in seconds after
// the file's start.
type Clip struct {
	Input  string  `json:"input"`
	Codec  string  `json:"codec"`
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Format string  `json:"format"`
	Plane  string  `json:"plane"`  // the plane of the *_y figures: luma, gray, or green
	Rate   string  `json:"rate"`   // frames per second, as a fraction
	FPS    float64 `json:"fps"`    // Rate as a number
	Varies bool    `json:"varies"` // Rate is a mean
	From   Seconds `json:"from"`   // time of the first frame
	To     Seconds `json:"to"`     // time of the last frame
	Frames int     `json:"frames"` // number of frames read
	Damage string  `json:"damage,omitempty"`
}

// Method holds the results of one setting or peer.
type Method struct {
	Name            string            `json:"name"`
	Kind            string            `json:"kind"` // retime or peer
	Values          map[string]string `json:"values"`
	SecondsPerFrame float64           `json:"seconds_per_frame"`
	TimedFrames     int               `json:"timed_frames"`
	Total           Summary           `json:"total"`
	WithinShots     Summary           `json:"within_shots"` // without the frames across a cut
	Shots           []Summary         `json:"per_shot"`     // by index in Report.Shots
	Frames          Series            `json:"per_frame"`    // by index in Report.Frames
}

// Failure is a peer that failed.
type Failure struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// Shot is a sequence of frames without a cut.
type Shot struct {
	From   Seconds `json:"from"`
	To     Seconds `json:"to"`
	Frames int     `json:"frames"` // held-out frames in the shot
}

// Frame is a held-out frame.
type Frame struct {
	Index     int     `json:"index"` // in the part, from 0
	Time      Seconds `json:"time"`
	Shot      int     `json:"shot"`
	AcrossCut bool    `json:"across_cut"` // a cut lies between the frame's neighbours
}

// Summary holds a method's figures over several frames. PSNRY and PSNR pool the squared
// errors as FFmpeg's psnr filter does; PSNRYMin is the least of the frames, and the
// others are means over the frames.
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
	// Confidence is retime's own expectation for each frame, from 0 to 1, and How is
	// the method of its pipeline.Record. Settings that estimate no optical flow have
	// neither.
	Confidence []Ratio           `json:"confidence,omitempty"`
	How        []pipeline.Method `json:"how,omitempty"`
}

// Decibel is a level in dB. JSON has three decimals, and null for an infinite level.
type Decibel float64

// Ratio is a number without unit. JSON has five decimals, and null for one that was not
// measured.
type Ratio float64

// Seconds is a time. JSON has six decimals.
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

// report assembles the results of all trials.
func (e *evaluation) report(now time.Time) *Report {
	c := e.clip
	r := &Report{
		Schema: Schema, Made: now.UTC().Format(time.RFC3339), Clip: c.describe(), Every: e.o.Every, Threads: e.o.workers().Count(),
		Note: "The gap around a held-out frame, and so the motion across it, is twice what it is in use, so these figures " +
			"are pessimistic. They rank methods and show where a clip is hard; frames made for the clip itself come out better.",
		Failed: e.failed, Worst: []int{}, exhibits: e.gallery.exhibits,
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

// result summarises method i over the frames and shots of r.
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

// maxDecibel limits the level that one frame contributes to a mean, which is infinite
// for a frame without error.
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

// judge compares each setting with the best peer.
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
