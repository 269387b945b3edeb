package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/plainfile"
)

// planFormat is the version of the format that ReadPlan reads.
const planFormat = "retime plan 4"

// planFile is the content of a plan's file. A change of its fields needs another
// planFormat.
type planFile struct {
	Format   string   `json:"format"`
	Program  string   `json:"program"`
	Input    Input    `json:"input"`
	Settings settings `json:"settings"`
	Whole    outline  `json:"whole"`
	Ranges   []Range  `json:"ranges"`
}

// outline is the form of an Outline in a file.
type outline struct {
	Frames int64     `json:"frames"`
	Rate   *rational `json:"rate"`
	Scenes []int64   `json:"scenes,omitempty"`
	Stream stream    `json:"stream"`
}

// stream is the form of media.Parameters in a file.
type stream struct {
	Encoder     string `json:"encoder"`
	Width       int    `json:"width"`
	Height      int    `json:"height"`
	PixelFormat string `json:"pixel_format"`
	TimeBase    [2]int `json:"time_base"`
	Header      []byte `json:"header"`
}

// file returns the content of p's file.
func (p *Plan) file() *planFile {
	w := &p.Whole
	return &planFile{
		Format: planFormat, Program: p.Program, Input: p.Input, Settings: store(&p.Settings), Ranges: p.Ranges,
		Whole: outline{w.Frames, (*rational)(w.Rate), w.Scenes, stream(w.Parameters)},
	}
}

// plan returns the plan in f. It fails if a field makes no sense.
func (f *planFile) plan() (*Plan, error) {
	if err := errors.Join(f.Input.check(), f.Whole.check(), f.checkRanges()); err != nil {
		return nil, err
	}
	o, err := f.Settings.options(f.Input.Path)
	if err != nil {
		return nil, fmt.Errorf("its settings: %w", err)
	}
	if m, p := f.Settings.Synthesis.StaticMask, &f.Whole.Stream; m.Width > 0 && (m.Width != p.Width || m.Height != p.Height) {
		return nil, fmt.Errorf("its mask is of %dx%d, its pictures of %dx%d", m.Width, m.Height, p.Width, p.Height)
	}
	return &Plan{Program: f.Program, Input: f.Input, Settings: o, Whole: f.Whole.outline(), Ranges: f.Ranges}, nil
}

// outline returns the Outline in w.
func (w *outline) outline() Outline {
	return Outline{Frames: w.Frames, Rate: (*big.Rat)(w.Rate), Scenes: w.Scenes, Parameters: media.Parameters(w.Stream)}
}

func (in *Input) check() error {
	sum, err := hex.DecodeString(in.SHA256)
	switch {
	case !filepath.IsAbs(in.Path):
		return fmt.Errorf("the input's path %q is not absolute", in.Path)
	case in.Size < 0:
		return fmt.Errorf("the input's size is %d", in.Size)
	case err != nil || len(sum) != sha256.Size:
		return fmt.Errorf("the input's hash %.80q is no SHA-256", in.SHA256)
	}
	return nil
}

func (w *outline) check() error {
	side := func(n int) bool { return n >= 1 && n <= media.MaxSide }
	short := func(n *big.Int) bool { return n.BitLen() < 32 } // as encoders take it
	switch rate := (*big.Rat)(w.Rate); {
	case rate == nil || rate.Sign() <= 0:
		return errors.New("it has no rate")
	case !short(rate.Num()) || !short(rate.Denom()):
		return errors.New("its rate has more than 31 bits")
	case w.Frames > maxFrames:
		return fmt.Errorf("it has %d frames; want at most %d", w.Frames, int64(maxFrames))
	case !slices.IsSorted(w.Scenes) || len(w.Scenes) > 0 && (w.Scenes[0] < 0 || w.Scenes[len(w.Scenes)-1] >= w.Frames):
		return errors.New("its scenes are not frames in rising order")
	case !side(w.Stream.Width) || !side(w.Stream.Height):
		return fmt.Errorf("its pictures are of %dx%d", w.Stream.Width, w.Stream.Height)
	case w.Stream.TimeBase[0] <= 0 || w.Stream.TimeBase[1] <= 0 || w.Stream.TimeBase[0] > math.MaxInt32 || w.Stream.TimeBase[1] > math.MaxInt32:
		return fmt.Errorf("its time base is %d/%d", w.Stream.TimeBase[0], w.Stream.TimeBase[1])
	}
	return nil
}

func (f *planFile) checkRanges() error {
	if len(f.Ranges) == 0 || len(f.Ranges) > maxRanges {
		return fmt.Errorf("it has %d ranges; want 1 to %d", len(f.Ranges), maxRanges)
	}
	at, start := int64(0), int64(math.MinInt64)
	for i, r := range f.Ranges {
		if r.First != at || r.End <= r.First {
			return fmt.Errorf("range %d, from %d to %d, does not follow %d", i, r.First, r.End, at)
		}
		at = r.End
		if r.Start == nil {
			continue
		}
		if *r.Start < start {
			return fmt.Errorf("range %d is read from timestamp %d, the one before it from %d", i, *r.Start, start)
		}
		start = *r.Start
	}
	if at != f.Whole.Frames {
		return fmt.Errorf("its ranges have %d frames of %d", at, f.Whole.Frames)
	}
	return nil
}

// ID returns a hash of the plan's whole content.
func (p *Plan) ID() string {
	b, err := json.Marshal(p.file())
	if err != nil {
		panic(err) // every field has JSON
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Write writes p to the file called name atomically. A file that is there is an error unless
// overwrite is set.
func (p *Plan) Write(name string, overwrite bool) error {
	b, err := json.MarshalIndent(p.file(), "", "  ")
	if err == nil && (len(b) >= maxPlan || checkValues(b) != nil) {
		return fault.New(fault.Usage, "plan %q would have %d bytes, more than can be read again; plan larger ranges, with fewer decisions", name, len(b))
	}
	if err == nil {
		_ = atomicfile.Sweep(name)
		err = atomicfile.WriteFile(name, overwrite, append(b, '\n'))
	}
	if err != nil {
		return fault.New(fault.CannotWrite, "plan: %w", err)
	}
	return nil
}

// These bound a plan: the size of its file in bytes, the number of values in it, each of
// which takes some 100 bytes of memory, and the number of its frames, which leaves room for
// subframes in an int64.
const (
	maxPlan   = 1 << 28
	maxValues = 1 << 23
	maxFrames = 1 << 40
)

// checkValues refuses JSON of too many values.
func checkValues(b []byte) error {
	n, quoted, escaped := 1, false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			n++
		}
	}
	if n > maxValues {
		return fmt.Errorf("it has %d values; want at most %d", n, maxValues)
	}
	return nil
}

// ReadPlan reads a file that Write wrote. It refuses the plan of another version of the
// program, and one that runs a command. If the file does not exist, the error is of kind
// fault.NoInput and wraps fs.ErrNotExist.
func ReadPlan(name, program string) (*Plan, error) {
	p, err := readPlan(name, program)
	if err != nil {
		return nil, err
	}
	if err := checkCommand(p.Settings.Synthesis.Flow); err != nil {
		return nil, fault.New(fault.BadData, "plan %q: %w", name, err)
	}
	return p, nil
}

// readPlan is ReadPlan without regard to commands.
func readPlan(name, program string) (*Plan, error) {
	b, err := plainfile.Read(name, maxPlan)
	if err != nil {
		return nil, fault.New(fault.NoInput, "plan: %w", err)
	}
	p, err := parsePlan(b)
	if err != nil {
		return nil, fault.New(fault.BadData, "plan %q: %w", name, err)
	}
	if p.Program != program {
		return nil, fault.New(fault.BadData, "plan %q was made by %s, this is %s; plan again, or use the same program everywhere", name, p.Program, program)
	}
	return p, nil
}

func parsePlan(b []byte) (*Plan, error) {
	if err := checkValues(b); err != nil {
		return nil, err
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fault.Plain(err)
	}
	if head.Format != planFormat {
		return nil, fmt.Errorf("its format is %q, and this version reads %q; plan again", head.Format, planFormat)
	}
	f := new(planFile)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return nil, fault.Plain(err)
	}
	return f.plan()
}

// Dir returns the directory for the segments of the plan in a file: plan.segments
// beside plan.json.
func Dir(plan string) string { return strings.TrimSuffix(plan, ".json") + ".segments" }
