package smartcopy

import (
	"testing"

	"retime/pipeline/media"
)

// Frames between copied ones have good quality unless the options say otherwise; for libx264 the
// default is the same as for any conversion.
func TestQualityOfEncodedFrames(t *testing.T) {
	r, err := media.Open(t.Context(), "../../../testdata/demo.mp4", media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct {
		codec    string
		crf, got int
	}{{"libx265", -1, 18}, {"libx265", 23, 23}, {"libx264", -1, -1}, {"libx264", 20, 20}} {
		s := &Splicer{source: r, opt: media.WriterOptions{Encoder: media.EncoderOptions{Codec: c.codec, CRF: c.crf}}}
		s.candidates(Grouping{})
		if s.opt.Encoder.CRF != c.got {
			t.Errorf("%s with %d: constant rate factor %d, want %d", c.codec, c.crf, s.opt.Encoder.CRF, c.got)
		}
	}
	if media.DefaultCRF != 16 {
		t.Errorf("libx264: %d", media.DefaultCRF)
	}
}

// Only frames that are to be interlaced are decoded again, if others can do without.
func TestMarksOfProgressiveFrames(t *testing.T) {
	r, err := media.Open(t.Context(), "../../../testdata/demo.mp4", media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, s := range []*Splicer{{source: r}, {source: r, config: &decoderConfig{}}} {
		m := s.newMarks()
		m.want = []mark{{}, {}}
		for n := range m.want {
			if err := m.decode(media.Packet{Data: []byte{1}, PTS: int64(n)}); err != nil {
				t.Error(err)
			}
		}
		if m.decoder != nil || m.check("ffv1") != nil {
			t.Error("progressive frames were decoded")
		}
		m.want = append(m.want, mark{true, true})
		if m.wanted(2) == m.dependent || m.wanted(3) || m.wanted(-1) {
			t.Errorf("of the frames 2, 3 and -1 are wanted: %v, %v, %v", m.wanted(2), m.wanted(3), m.wanted(-1))
		}
		m.close()
	}
}
