package record

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"image/png"
	"io"
	"math/big"
	"slices"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore"
)

// list is the hashes of a file's frames.
type list struct {
	head string
	rows []row
}

type row struct {
	at   int64 // in frames, or in ticks of the time base
	size int
	hash string
}

// text returns the list as FFmpeg's framemd5 muxer writes it.
func (l *list) text() []byte {
	var b bytes.Buffer
	b.WriteString(l.head)
	for _, r := range l.rows {
		fmt.Fprintf(&b, "0, %10d, %10d, %8d, %8d, %s\n", r.at, r.at, 1, r.size, r.hash)
	}
	return b.Bytes()
}

// comparison is what reading both files has given.
type comparison struct {
	lists    [2]list // of the input and the output
	pictures map[string]template.URL
}

// mostShown is how many frames the page shows, and shownWidth how wide its pictures are at most, in pixels.
const (
	mostShown  = 200
	shownWidth = 480
)

// compare reads the input and the output, and completes r.
func compare(ctx context.Context, j *Job, r *Report) (*comparison, error) {
	c := &comparison{pictures: map[string]template.URL{}}
	inserted := map[int64]bool{}
	shown := [2]map[int64]bool{{}, {}} // numbers in the input, and in the output
	for _, e := range j.Entries {
		if k := len(r.Made) - 1; k < 0 || r.Made[k] != e.Frame { // entries come in the order of frames
			r.Made = append(r.Made, e.Frame)
		}
		if e.Source < 0 {
			inserted[e.Frame] = true
		}
		if len(r.Made) <= mostShown {
			shown[0][e.Source] = true
			for n := e.Frame - 1; n <= e.Frame+1; n++ {
				shown[1][n] = true
			}
		}
	}
	in := j.Options.Convert
	in.Input.Deinterlace, in.Input.HWDec = pipeline.IgnoreFields, media.HWNone
	in.Input.SequenceGaps = j.Options.MissingFromNumbering
	input, err := pipeline.OpenInput(ctx, in, pipeline.Span{})
	if err != nil {
		return nil, err
	}
	defer input.Close()
	output, err := media.Open(ctx, j.Output, media.ReaderOptions{Threads: in.Compute.Threads})
	if err != nil {
		return nil, err
	}
	defer output.Close()
	for i, reader := range []*media.Reader{input, output} {
		if err := c.read(i, reader, j.Version, shown[i]); err != nil {
			return nil, err
		}
	}
	r.Input.Frames, r.Output.Frames = int64(len(c.lists[0].rows)), int64(len(c.lists[1].rows))
	for i, f := range []*File{&r.Input, &r.Output} {
		v := []*media.Reader{input, output}[i].Video()
		f.Width, f.Height = v.Width, v.Height
	}
	source := 0
	for n, got := range c.lists[1].rows {
		if inserted[int64(n)] {
			continue
		}
		equal := source < len(c.lists[0].rows) && c.lists[0].rows[source].hash == got.hash
		source++
		if equal {
			r.Equal++
		} else if _, made := slices.BinarySearch(r.Made, int64(n)); !made {
			r.Changed = append(r.Changed, int64(n))
		}
	}
	first, _ := restore.ParseTimecode(input.Video().Timecode.Text)
	for _, e := range j.Entries {
		f := Frame{Entry: e}
		if rate := restore.CountedRate(input.Video()); rate != nil {
			f.Timecode = restore.TimecodeAt(first, e.Frame, rate).String()
		}
		r.Frames = append(r.Frames, f)
	}
	return c, nil
}

// read lists the frames of one of the files, and keeps pictures of those that are shown.
func (c *comparison) read(i int, r *media.Reader, version string, shown map[int64]bool) error {
	v, l := r.Video(), &c.lists[i]
	unit := v.TimeBase
	if v.Rate != nil {
		unit = new(big.Rat).Inv(v.Rate)
	}
	aspect := r.Source().Aspect
	l.head = fmt.Sprintf("#format: frame checksums\n#version: 2\n#hash: MD5\n#software: retime %s\n#tb 0: %s\n#media_type 0: video\n#codec_id 0: rawvideo\n#dimensions 0: %dx%d\n#sar 0: %d/%d\n#stream#, dts,        pts, duration,     size, hash\n",
		version, unit.String(), v.Width, v.Height, aspect.Num(), max(aspect.Den(), 1))
	graph := fmt.Sprintf("[in0]scale=%d:%d:flags=area,format=gbrp[out]", min(v.Width, shownWidth), max(v.Height*min(v.Width, shownWidth)/v.Width, 1))
	painter, err := media.NewFilter(graph, 1, v, 1)
	if err != nil {
		return err
	}
	defer painter.Close()
	for n := int64(0); ; n++ {
		f, err := r.Read()
		if errors.Is(err, io.EOF) || fault.KindOf(err) == fault.BadData && n > 0 { // the restoration has told of it
			return nil
		} else if err != nil {
			return err
		}
		sum, size, err := media.FrameMD5(f)
		if err == nil && shown[n] {
			c.pictures[key(i, n)], err = paint(painter, f)
		}
		at := new(big.Rat).Mul(big.NewRat(f.PTS, 1), v.TimeBase)
		at.Quo(at.Sub(at, v.Start), unit)
		ticks, _ := new(big.Float).SetRat(at.Add(at, big.NewRat(1, 2))).Int64()
		l.rows = append(l.rows, row{ticks, size, hex.EncodeToString(sum[:])})
		f.Release()
		if err != nil {
			return fault.New(fault.BadData, "%w", err)
		}
	}
}

// key names the picture of frame n of the input, 0, or the output, 1.
func key(file int, n int64) string { return fmt.Sprint(file, " ", n) }

// paint returns f as a PNG that a page can hold.
func paint(by *media.Filter, f *frame.Frame) (template.URL, error) {
	if err := by.Send(0, f, 0); err != nil {
		return "", err
	}
	rgb, err := by.Receive()
	if err != nil {
		return "", err
	}
	defer rgb.Release()
	var b bytes.Buffer
	if err := png.Encode(&b, frame.RGBA(rgb)); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil //nolint:gosec // a picture of ours
}
