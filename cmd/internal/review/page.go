package review

import (
	"bytes"
	"embed"
	"html/template"
	"mime"
	"net/http"
	"path"
	"time"

	"retime/cmd/internal/review/frames"
)

// assets are the page's scripts and styles. A request names one of them, and never a file.
//
//go:embed page/*.css page/*.js
var assets embed.FS

//go:embed page/*.html
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "page/*.html"))

// serveAsset sends a script or a style.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	b, err := assets.ReadFile("page/" + path.Base(name))
	if err != nil || path.Base(name) != name {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
}

// view is a choice of what to compare with.
type view struct {
	Value frames.View
	Name  string
}

var comparisons = []view{
	{frames.Source, "Source"}, {frames.Blend, "Cross-fade"}, {frames.Minterpolate, "minterpolate"}, {frames.Fast, "Preset fast"},
	{frames.Balanced, "Preset balanced"}, {frames.Best, "Preset best"}, {frames.Render, "Last render"},
}

func (c *session) servePage(w http.ResponseWriter, _ *http.Request) error {
	return show(w, "clip.html", struct {
		Title, Input, Output, Batch string
		Comparisons                 []view
	}{c.title(), c.clip.Conversion.Input.File, c.clip.Conversion.Output.File, c.server.options.Batch, comparisons})
}

// show sends a page that is filled in whole or not at all.
func show(w http.ResponseWriter, name string, data any) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the tab is gone if it fails
	return nil
}
