// Package debug writes pictures of how one frame was made, for people to look at.
package debug

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

// Drawing is one picture of the folder. About says what it shows.
type Drawing struct {
	Name, About string
	Picture     image.Image
}

// textName and dataName are the files of the folder that are not pictures.
const (
	textName = "README.txt"
	dataName = "numbers.json"
)

// Files are the names of the files that Write writes.
var Files = []string{
	"1-first.png", "2-made.png", "3-second.png", "flow-forward.png", "flow-backward.png", "flow-projected.png", "holes.png", "visibility.png",
	"hypotheses.png", "costs.png", "shares.png", "confidence.png", "overlay.png", textName, dataName,
}

// Write draws d into files in dir and creates dir if it does not exist. It fails with a
// fault.CannotWrite error if one of the files exists and overwrite is not set.
func Write(dir string, d *Dissection, overwrite bool) error {
	drawings, err := Draw(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fault.New(fault.CannotWrite, "debug: %w", err)
	}
	if !overwrite {
		for _, name := range Files {
			if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
				return fault.New(fault.CannotWrite, "debug: %q exists; Options.Overwrite overwrites it", filepath.Join(dir, name))
			}
		}
	}
	_ = atomicfile.Sweep(dir + string(filepath.Separator)) // what is left of a killed run hinders nobody
	for _, p := range drawings {
		encode := func(w io.Writer) error { return png.Encode(w, p.Picture) }
		if err := atomicfile.Write(filepath.Join(dir, p.Name), overwrite, encode); err != nil {
			return fault.New(fault.CannotWrite, "debug: %w", err)
		}
	}
	n := newNumbers(d)
	data, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{textName: []byte(n.describe(drawings)), dataName: append(data, '\n')} {
		if err := atomicfile.WriteFile(filepath.Join(dir, name), overwrite, text); err != nil {
			return fault.New(fault.CannotWrite, "debug: %w", err)
		}
	}
	return nil
}

// numbers is the content of dataName: the places, the motion and the synthesis of the
// frame. Its parts are embedded, so that the file is one flat object.
type numbers struct {
	placeNumbers
	motionNumbers
	Method     pipeline.Method     `json:"method"`
	Outer      int                 `json:"outer_frames"`
	Inpainted  float64             `json:"inpainted"` // per cent of the luma samples
	Overlay    float64             `json:"overlay"`   // per cent of the grid
	Hypotheses []hypothesisNumbers `json:"hypotheses"`
}

// placeNumbers locates the frame: times in seconds of the input, sizes in pixels.
type placeNumbers struct {
	At         float64 `json:"at"`
	First      float64 `json:"first"`
	Second     float64 `json:"second"`
	Phase      float64 `json:"phase"`
	Width      int     `json:"width"`
	Height     int     `json:"height"`
	GridWidth  int     `json:"grid_width"` // of the maps
	GridHeight int     `json:"grid_height"`
}

// motionNumbers rates the motion between the two source frames.
type motionNumbers struct {
	Confidence float64 `json:"confidence"`
	Error      float64 `json:"error"` // grey levels
	Holes      float64 `json:"holes"` // per cent
	Lost       float64 `json:"lost"`  // per cent
	CutScore   float64 `json:"cut_score"`
	CutFrom    float64 `json:"cut_from"`
}

type hypothesisNumbers struct {
	Name  string  `json:"name"`
	Color string  `json:"color"` // in hypotheses.png
	Wins  float64 `json:"wins"`  // per cent of the grid on which it has the largest share
	Share float64 `json:"share"` // per cent, mean over the grid
	Cost  float64 `json:"cost"`  // grey levels, mean over the grid
}

func newNumbers(d *Dissection) *numbers {
	at, _ := d.At.Float64()
	first, _ := d.First.At.Float64()
	second, _ := d.Second.At.Float64()
	r := d.Record
	return &numbers{
		placeNumbers: placeNumbers{
			At: at, First: first, Second: second, Phase: r.Phase, Width: d.Made.Width, Height: d.Made.Height,
			GridWidth: d.Confidence.Width, GridHeight: d.Confidence.Height,
		},
		motionNumbers: motionNumbers{
			Confidence: r.Confidence, Error: r.Error, Holes: r.Holes, Lost: r.Lost, CutScore: r.CutScore, CutFrom: d.CutFrom,
		},
		Method: r.Method, Outer: d.Outer,
		Inpainted: percent(d.Inspection.Unseen.Pix), Overlay: percent(d.Inspection.Overlay.Pix),
		Hypotheses: hypothesisShares(d),
	}
}

// percent returns how many per cent of the values are not 0.
func percent(values []uint8) float64 {
	set := 0
	for _, v := range values {
		if v != 0 {
			set++
		}
	}
	return rounded(100 * float64(set) / float64(max(len(values), 1)))
}

// describe returns the content of textName, which explains the folder.
func (n *numbers) describe(drawings []Drawing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "How retime makes the frame at %.6f s: %.1f %% of the way from the source frame at %.6f s\nto the one at %.6f s.\n\n",
		n.At, 100*n.Phase, n.First, n.Second)
	fmt.Fprintf(&b, "method      %s, confidence %.3f (1 is best)\n", n.Method, n.Confidence)
	fmt.Fprintf(&b, "error       %.2f grey levels of 255 by which the source frames differ along the motion\n", n.Error)
	fmt.Fprintf(&b, "holes       %.2f %% of the pixels that the flow from a source frame does not reach\n", n.Holes)
	fmt.Fprintf(&b, "lost        %.2f %% of the pixels whose flows there and back miss each other\n", n.Lost)
	fmt.Fprintf(&b, "cut score   %.3f; from %.2f on this is a scene cut", n.CutScore, n.CutFrom)
	if n.CutScore >= n.CutFrom {
		b.WriteString(": a conversion shows the nearer source frame here")
	}
	fmt.Fprintf(&b, "\noverlay     %.2f %% of the picture is taken for an overlay that does not move\n", n.Overlay)
	fmt.Fprintf(&b, "inpainted   %.2f %% of the picture is seen in neither source frame\n", n.Inpainted)
	fmt.Fprintf(&b, "curvature   %s\n\n", map[bool]string{true: "from the frames before and after", false: "not known: a frame before or after is missing"}[n.Outer == 2])
	fmt.Fprintf(&b, "Motion is settled on a grid of %dx%d; the maps are that large, the frames %dx%d.\n\n", n.GridWidth, n.GridHeight, n.Width, n.Height)
	for _, p := range drawings {
		fmt.Fprintf(&b, "%-24s %s\n", p.Name, p.About)
	}
	fmt.Fprintf(&b, "%-24s %s\n\n", dataName, "the figures above and below, for programs")
	b.WriteString("For each pixel several motions are tried, and their samples averaged by how well the source frames\nagree along them:\n\n")
	fmt.Fprintf(&b, "%-42s %-10s %8s %8s %12s\n", "motion", "colour", "wins %", "share %", "mean error")
	for _, h := range n.Hypotheses {
		fmt.Fprintf(&b, "%-42s %-10s %8.2f %8.2f %12.2f\n", h.Name, h.Color, h.Wins, h.Share, h.Cost)
	}
	return b.String()
}
