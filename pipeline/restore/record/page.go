package record

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"

	"retime/pipeline/restore"
)

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"base": filepath.Base}).Parse(pageHTML))

// shownFrame is a frame on the page, with what was made of it, and the pictures around it; empty for none.
type shownFrame struct {
	Frame
	Parts                   []Frame
	Before, Was, Now, After template.URL
}

// Areas are the parts of the picture that were made.
func (f shownFrame) Areas() (all []restore.Rectangle) {
	for _, p := range f.Parts {
		all = append(all, p.Areas...)
	}
	return all
}

// page returns the page.
func (c *comparison) page(r *Report) ([]byte, error) {
	var shown []shownFrame
	left := 0
	for _, f := range r.Frames {
		if k := len(shown) - 1; k >= 0 && shown[k].Frame.Frame == f.Frame {
			shown[k].Parts = append(shown[k].Parts, f)
			continue
		}
		s := shownFrame{Parts: []Frame{f}, Frame: f, Before: c.pictures[key(1, f.Frame-1)], Now: c.pictures[key(1, f.Frame)], After: c.pictures[key(1, f.Frame+1)]}
		if s.Was = c.pictures[key(0, f.Source)]; s.Now == "" {
			left++
			continue
		}
		shown = append(shown, s)
	}
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{"R": r, "Shown": shown, "Left": left})
	return b.Bytes(), err
}

// Neighboured names what a picture was made from.
func (f Frame) Neighboured() string {
	var text string
	for i, n := range f.Neighbours {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(n)
		if i < len(f.NeighbourFields) {
			text += " " + string(f.NeighbourFields[i])
		}
	}
	return text
}
