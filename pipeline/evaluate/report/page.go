package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"db":      func(d Decibel) string { return figure(float64(d), 2) },
	"million": func(m Million) string { return figure(float64(m), 0) },
	"ratio":   func(r Ratio) string { return figure(float64(r), 4) },
	"seconds": func(s Seconds) string { return figure(float64(s), 3) },
	"cost": func(s float64) string {
		if s < 0.0005 {
			return "< 0.001"
		}
		return figure(s, 3)
	},
	"inc":    func(i int) int { return i + 1 },
	"base":   filepath.Base,
	"parts":  parts,
	"colour": func(i int) string { return fmt.Sprint("m", i%colours) },
	"values": describeValues,
	"plural": func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprint(n, " ", many)
	},
}).Parse(pageHTML))

// parts splits a file name after the characters after which a line may break.
func parts(name string) (list []string) {
	for name != "" {
		i := strings.IndexAny(name, "_.-") + 1
		if i == 0 {
			i = len(name)
		}
		list, name = append(list, name[:i]), name[i:]
	}
	return list
}

// colours is the number of colours that the page has for methods.
const colours = 8

// figure formats v for the page; NaN stands for a figure that was not measured.
func figure(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 0):
		return "∞"
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

func describeValues(values map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, k+" "+values[k])
	}
	return strings.Join(parts, ", ")
}

// pageData fills in the page's template.
type pageData struct {
	*Report
	Best           columns
	Cuts           int // held-out frames across a cut
	CSS            template.CSS
	JS             template.JS
	Data, Pictures template.JS
}

// columns holds the best value of each column of the table.
type columns struct {
	PSNRY, PSNR, Within, Min, Worst, Change, Div Decibel
	SSIMY, SSIM, VIF                             Ratio
	Speckle                                      Million
	LPIPS                                        Ratio
	Seconds                                      float64
}

func (r *Report) best() columns {
	c := columns{Speckle: Million(math.Inf(1)), LPIPS: Ratio(math.Inf(1)), Seconds: math.Inf(1)}
	for _, m := range r.Methods {
		t := m.Total
		c.PSNRY, c.PSNR, c.Min = max(c.PSNRY, t.PSNRY), max(c.PSNR, t.PSNR), max(c.Min, t.PSNRYMin)
		c.Within = max(c.Within, m.WithinShots.PSNRY)
		c.SSIMY, c.SSIM, c.VIF = max(c.SSIMY, t.SSIMY), max(c.SSIM, t.SSIM), max(c.VIF, t.VIF)
		c.Worst, c.Change = max(c.Worst, t.PSNRYWorst), max(c.Change, t.PSNRYChange)
		c.Div = max(c.Div, t.PSNRDiv)
		c.Speckle, c.LPIPS = min(c.Speckle, t.Speckle), min(c.LPIPS, t.LPIPS)
		c.Seconds = min(c.Seconds, m.SecondsPerFrame)
	}
	return c
}

// WriteHTML writes the report as one page that loads no other file.
func (r *Report) WriteHTML(w io.Writer) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	images, err := json.Marshal(r.Pictures)
	if err != nil {
		return err
	}
	cuts := 0
	for _, f := range r.Frames {
		if f.AcrossCut {
			cuts++
		}
	}
	return page.Execute(w, pageData{r, r.best(), cuts, template.CSS(pageCSS), template.JS(pageJS), template.JS(data), template.JS(images)})
}
