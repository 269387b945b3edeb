package streams

import (
	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
)

// coverCopier writes the cover picture of the file, right after the header.
type coverCopier struct{ track }

func (s *Set) carryCover(in *astiav.Stream) (stream, error) {
	picture := av.AttachedPicture(in)
	switch {
	case len(picture) == 0:
		return nil, nil
	case container.HoldsAttachments(s.out):
		return nil, s.attach(in, picture)
	case !container.HoldsCovers(s.out) || !container.Holds(s.out, in.CodecParameters()):
		return s.leaveOut(in, "the container takes no cover picture of its kind")
	}
	t, err := s.newCopy(in)
	if err == nil {
		err = av.RefAttachedPicture(t.next, in)
	}
	if err != nil {
		t.free()
		return nil, err
	}
	return &coverCopier{t}, nil
}

// attach adds a cover picture to the output as an attachment, which is how Matroska
// stores it.
func (s *Set) attach(in *astiav.Stream, picture []byte) error {
	t, err := s.newCopy(in)
	defer t.free()
	if err != nil {
		return err
	}
	p, tags := t.out.CodecParameters(), av.StreamTags(t.out)
	p.SetMediaType(astiav.MediaTypeAttachment)
	av.ClearDisposition(t.out)
	name, kind := "cover.jpg", "image/jpeg"
	if p.CodecID() == astiav.CodecIDPng {
		name, kind = "cover.png", "image/png"
	}
	for _, tag := range [][2]string{{"filename", name}, {"mimetype", kind}} {
		if _, ok := tags.Get(tag[0]); !ok {
			tags.Set(tag[0], tag[1])
		}
	}
	return p.SetExtraData(picture)
}

// packet ignores the cover's packet, which some containers deliver a second time.
func (*coverCopier) packet(*astiav.Packet) error { return nil }

func (c *coverCopier) header() error {
	c.next.SetPts(0)
	c.next.SetDts(0)
	return c.write()
}
