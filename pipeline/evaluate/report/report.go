// Package report holds the result of an evaluation, and writes it as JSON and as an HTML page.
package report

import (
	"encoding/json"
	"io"
	"math"
	"strconv"

	"retime/pipeline"
)

// Schema is the version of the format of report.json, which docs/evaluate.md describes.
const Schema = 1

// Report is the result of an evaluation. WriteJSON writes it as report.json, WriteHTML as
// report.html, with pictures.
type Report struct {
	Schema  int      `json:"schema"`
	Made    string   `json:"made"` // in UTC, as in RFC 3339
	Note    string   `json:"note"`
	Verdict []string `json:"verdict"` // a sentence for each setting
	Clip    Clip     `json:"clip"`
	Every   int      `json:"every"` // one frame in this many is held out
	Threads int      `json:"threads"`
	Methods []Method `json:"methods"` // the settings, then the peers
	// Failed lists the peers that were left out because they failed.
	Failed  []Failure `json:"failed,omitempty"`
	Shots   []Shot    `json:"shots"`
	Frames  []Frame   `json:"frames"`  // the held-out frames
	Worst   []int     `json:"worst"`   // indices into Frames, starting with the frame that the first method makes worst
	Regions []Region  `json:"regions"` // starting with the region that the first method makes worst

	Pictures Pictures `json:"-"`
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
	Kind            Kind              `json:"kind"`
	Values          map[string]string `json:"values"`
	SecondsPerFrame float64           `json:"seconds_per_frame"`
	TimedFrames     int               `json:"timed_frames"`
	Total           Summary           `json:"total"`
	WithinShots     Summary           `json:"within_shots"` // without the frames across a cut
	Shots           []Summary         `json:"per_shot"`     // by index in Report.Shots
	Frames          Series            `json:"per_frame"`    // by index in Report.Frames
}

// Kind distinguishes the settings of retime from the peers.
type Kind string

// The kinds of methods.
const (
	Retime Kind = "retime"
	Peer   Kind = "peer"
)

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
	AcrossCut bool    `json:"across_cut"` // a cut is between the frame's neighbours
}

// Region is a part of a held-out frame, in pixels.
type Region struct {
	Frame  int       `json:"frame"` // index into Report.Frames
	X      int       `json:"x"`
	Y      int       `json:"y"`
	Width  int       `json:"width"`
	Height int       `json:"height"`
	PSNRY  []Decibel `json:"psnr_y"` // by index in Report.Methods
}

// Summary holds a method's figures over several frames. PSNRY, PSNR, PSNRYWorst, PSNRYChange and
// PSNRDiv pool the squared errors as FFmpeg's psnr filter does; PSNRYMin is the lowest of any frame,
// and the others are means over the frames.
type Summary struct {
	Frames      int     `json:"frames"`
	PSNRY       Decibel `json:"psnr_y"`
	PSNR        Decibel `json:"psnr"`
	PSNRYMean   Decibel `json:"psnr_y_mean"` // each frame counts for at most 100 dB
	PSNRYMin    Decibel `json:"psnr_y_min"`
	PSNRYWorst  Decibel `json:"psnr_y_worst_tenth"` // over each frame's worst tenth of blocks
	PSNRYChange Decibel `json:"psnr_y_change"`      // from one held-out frame to the next
	PSNRDiv     Decibel `json:"psnr_div"`           // where the motion to the next frame diverges
	SSIMY       Ratio   `json:"ssim_y"`
	SSIM        Ratio   `json:"ssim"`
	VIF         Ratio   `json:"vif"`
	Speckle     Million `json:"false_speckle"`
	LPIPS       Ratio   `json:"lpips"`
	Detail      Ratio   `json:"detail"` // share of the source frames' detail that is kept
}

// Series holds a method's figures for each frame.
type Series struct {
	PSNRY      []Decibel `json:"psnr_y"`
	PSNR       []Decibel `json:"psnr"`
	PSNRYWorst []Decibel `json:"psnr_y_worst_tenth"`
	// PSNRYChange compares the change since the previous held-out frame; it is NaN for the first
	// frame of a shot.
	PSNRYChange []Decibel `json:"psnr_y_change"`
	PSNRDiv     []Decibel `json:"psnr_div"` // NaN where no motion diverges
	SSIMY       []Ratio   `json:"ssim_y"`
	SSIM        []Ratio   `json:"ssim"`
	VIF         []Ratio   `json:"vif"`
	Speckle     []Million `json:"false_speckle"`
	LPIPS       []Ratio   `json:"lpips"`
	Detail      []Ratio   `json:"detail"`
	// Confidence is how sure retime is of each frame, from 0 to 1, and How is the method in its
	// pipeline.Record. Settings that estimate no optical flow have neither.
	Confidence []Ratio           `json:"confidence,omitempty"`
	How        []pipeline.Method `json:"how,omitempty"`
}

// Pictures holds the pictures that the page shows.
type Pictures struct {
	Worst   []Exhibit        `json:"worst"`   // by index in Report.Worst
	Regions []RegionPictures `json:"regions"` // by index in Report.Regions
}

// Exhibit is a held-out frame and the pictures that the methods made of it.
type Exhibit struct {
	Truth []byte `json:"truth"` // JPEG
	Views []View `json:"views"` // by index in Report.Methods
}

// View holds the JPEG pictures of one method's frame.
type View struct {
	Made    []byte  `json:"made"`
	Error   []byte  `json:"error"`
	Flow    []byte  `json:"flow,omitempty"`    // nil if the method uses no flow
	Longest float64 `json:"longest,omitempty"` // length, in pixels of the frame, of the motion drawn in full colour
}

// RegionPictures holds the PNG pictures of one region.
type RegionPictures struct {
	Truth  []byte   `json:"truth"`
	Before []byte   `json:"before"` // the source frame before
	After  []byte   `json:"after"`  // the source frame after
	Made   [][]byte `json:"made"`   // by index in Report.Methods
}

// Decibel is a level in dB. In JSON it has three decimals, and is null if infinite or NaN.
type Decibel float64

// Ratio is a number without a unit. In JSON it has five decimals, and is null if it was not
// measured.
type Ratio float64

// Million is a share in parts per million. In JSON it has one decimal, and is null if it was not
// measured.
type Million float64

// Seconds is a time. In JSON it has six decimals.
type Seconds float64

// MarshalJSON writes d as JSON.
func (d Decibel) MarshalJSON() ([]byte, error) { return number(float64(d), 3), nil }

// MarshalJSON writes r as JSON.
func (r Ratio) MarshalJSON() ([]byte, error) { return number(float64(r), 5), nil }

// MarshalJSON writes m as JSON.
func (m Million) MarshalJSON() ([]byte, error) { return number(float64(m), 1), nil }

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
