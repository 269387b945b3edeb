package review

import (
	"encoding/hex"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"slices"
	"strconv"

	"retime/cmd/internal/review/frames"
	"retime/pipeline/fault"
)

// shot makes the frame that a request asks for.
func (c *session) shot(r *http.Request) (frames.Shot, frames.View, error) {
	k, err := number(r, "frame", c.maker.Plan().Total-1)
	if err != nil {
		return frames.Shot{}, "", err
	}
	v := frames.View(r.FormValue("view"))
	if !slices.Contains(frames.Views, v) {
		return frames.Shot{}, "", fault.New(fault.Usage, "there is no view %.40q", v)
	}
	s, err := c.maker.Frame(r.Context(), v, k)
	return s, v, err
}

// serveFrame sends a frame as rows of red, green, blue and alpha, a byte each: nothing is
// encoded, so nothing is lost, and a browser shows it at once.
func (c *session) serveFrame(w http.ResponseWriter, r *http.Request) error {
	s, v, err := c.shot(r)
	if err != nil {
		return err
	}
	defer s.Frame.Release()
	m, err := c.painter.Paint(s.Frame, c.maker.Video(), 0)
	if err != nil {
		return err
	}
	if v == frames.Final {
		if rated, changed := c.ratings.refine(s.Record); changed {
			c.server.hub.add(c.index, rated)
		}
	}
	record, err := json.Marshal(s.Record)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.Itoa(len(m.Pix)))
	h.Set("Retime-Size", strconv.Itoa(m.Rect.Dx())+"x"+strconv.Itoa(m.Rect.Dy()))
	h.Set("Retime-Record", string(record))
	h.Set("Retime-Digest", hex.EncodeToString(s.Digest[:]))
	_, _ = w.Write(m.Pix) // the tab is gone if it fails
	return nil
}

// serveKnownThumbnail sends a small picture of a frame that was found doubtful without opening
// its clip, or else has the clip's session make it.
func (s *Server) serveKnownThumbnail(other http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("clip"))
		k, err := strconv.ParseInt(r.FormValue("frame"), 10, 64)
		if err == nil && n >= 0 && n < len(s.entries) {
			if thumb := s.entries[n].ratings.thumb(k); thumb != nil {
				sendPNG(w, thumb)
				return
			}
		}
		other(w, r)
	}
}

func sendPNG(w http.ResponseWriter, b []byte) {
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(b) // the tab is gone if it fails
}

// serveBetween sends the first and the last of the frames that lie between two source frames.
func (c *session) serveBetween(w http.ResponseWriter, r *http.Request) error {
	k, err := number(r, "frame", c.maker.Plan().Total-1)
	if err != nil {
		return err
	}
	first, last, err := c.maker.Between(r.Context(), k)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, [2]int64{first, last})
	return nil
}

// serveThumbnail makes a small picture of a frame.
func (c *session) serveThumbnail(w http.ResponseWriter, r *http.Request) error {
	k, err := number(r, "frame", c.maker.Plan().Total-1)
	if err != nil {
		return err
	}
	s, err := c.maker.Frame(r.Context(), frames.Fast, k)
	if err != nil {
		return err
	}
	defer s.Frame.Release()
	thumb, err := c.painter.Thumbnail(s.Frame, c.maker.Video(), thumbWidth)
	if err != nil {
		return err
	}
	sendPNG(w, thumb)
	return nil
}

// serveMask sends the mask of still overlays as a PNG that is clear where nothing is marked.
func (c *session) serveMask(w http.ResponseWriter, _ *http.Request) error {
	now, _ := c.store.State()
	v := c.maker.Video()
	m := image.NewPaletted(image.Rect(0, 0, v.Width, v.Height), color.Palette{color.NRGBA{}, color.NRGBA{255, 176, 0, 150}})
	for y := range now.Mask.Height {
		for x, p := range now.Mask.Row(y) {
			if p >= 128 {
				m.Pix[y*m.Stride+x] = 1
			}
		}
	}
	w.Header().Set("Content-Type", "image/png")
	return png.Encode(w, m)
}
