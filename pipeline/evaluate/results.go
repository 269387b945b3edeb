package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"retime/pipeline/evaluate/measure"
	"retime/pipeline/evaluate/report"
)

// report assembles the results of all trials.
func (e *evaluation) report(now time.Time) *report.Report {
	c := e.clip
	r := &report.Report{
		Schema: report.Schema, Made: now.UTC().Format(time.RFC3339), Clip: c.describe(), Every: e.o.Every, Threads: e.o.workers().Count(),
		Note: "The gap around a held-out frame, and so the motion across it, is twice what it is in use, so these figures " +
			"are pessimistic. They rank methods and show where a clip is hard; frames made for the clip itself come out better.",
		Failed: e.failed,
	}
	for i, f := range c.frames {
		if f.shot == len(r.Shots) {
			r.Shots = append(r.Shots, report.Shot{From: report.Seconds(c.seconds(i))})
		}
		r.Shots[f.shot].To = report.Seconds(c.seconds(i))
	}
	for _, i := range c.held {
		shot := c.frames[i].shot
		r.Frames = append(r.Frames, report.Frame{Index: i, Time: report.Seconds(c.seconds(i)), Shot: shot, AcrossCut: c.acrossCut(i)})
		r.Shots[shot].Frames++
	}
	for i := range e.methods {
		r.Methods = append(r.Methods, e.result(i, r))
	}
	r.Worst, r.Pictures.Worst = e.gallery.Worst()
	r.Regions, r.Pictures.Regions = e.regions.Worst(c.video.Format.Max())
	r.Verdict = judge(r)
	return r
}

// result summarises method i over the frames and shots of r.
func (e *evaluation) result(i int, r *report.Report) report.Method {
	m, scores, peak := e.methods[i], e.scores[i], e.clip.video.Format.Max()
	out := report.Method{
		Name: m.name, Kind: m.kind, Values: m.values,
		SecondsPerFrame: e.timings[i].perFrame(), TimedFrames: e.timings[i].frames, Total: summarise(scores, peak),
	}
	var within []score
	for k, s := range scores {
		if !r.Frames[k].AcrossCut {
			within = append(within, s)
		}
		f := &out.Frames
		f.PSNRY, f.PSNR = append(f.PSNRY, psnr(s.MSEY, peak)), append(f.PSNR, psnr(s.MSE, peak))
		f.PSNRYWorst, f.PSNRYChange = append(f.PSNRYWorst, psnr(s.MSEWorst, peak)), append(f.PSNRYChange, psnr(s.change, peak))
		f.PSNRDiv = append(f.PSNRDiv, psnr(s.divergent, peak))
		f.SSIMY, f.SSIM = append(f.SSIMY, report.Ratio(s.SSIMY)), append(f.SSIM, report.Ratio(s.SSIM))
		f.VIF, f.Speckle = append(f.VIF, report.Ratio(s.VIF)), append(f.Speckle, report.Million(1e6*s.Speckle))
		f.LPIPS, f.Detail = append(f.LPIPS, report.Ratio(s.LPIPS)), append(f.Detail, report.Ratio(s.detail))
	}
	if m.flow != nil {
		for _, record := range e.records[i] {
			out.Frames.Confidence = append(out.Frames.Confidence, report.Ratio(record.Confidence))
			out.Frames.How = append(out.Frames.How, record.Method)
		}
	}
	out.WithinShots = summarise(within, peak)
	for _, shot := range r.Shots {
		out.Shots = append(out.Shots, summarise(scores[:shot.Frames], peak))
		scores = scores[shot.Frames:]
	}
	return out
}

func (c *clip) describe() report.Clip {
	fps, _ := c.rate.Float64()
	d := report.Clip{
		Input: c.o.Input.File, Codec: c.source.Codec, Width: c.video.Width, Height: c.video.Height, Format: c.source.Source, Plane: "luma",
		Rate: c.rate.RatString(), FPS: fps, Varies: c.varies,
		From: report.Seconds(c.seconds(0)), To: report.Seconds(c.seconds(len(c.frames) - 1)), Frames: len(c.frames),
	}
	switch f := c.video.Format; {
	case f.RGB:
		d.Plane = "green"
	case f.Planes < 3:
		d.Plane = "gray"
	}
	if c.damage != nil {
		d.Damage = c.damage.Error()
	}
	return d
}

// maxDecibel limits what one frame contributes to a mean level; without it, a frame without error
// would contribute infinity.
const maxDecibel = 100

func psnr(mse float64, peak int) report.Decibel { return report.Decibel(measure.PSNR(mse, peak)) }

func summarise(scores []score, peak int) report.Summary {
	n := float64(len(scores)) // 0 makes every mean NaN; the lowest PSNR starts as NaN
	s := report.Summary{Frames: len(scores), PSNRYMin: report.Decibel(math.NaN())}
	var sum measure.Score
	var change, divergent pool
	var mean, detail float64
	for _, x := range scores {
		p := psnr(x.MSEY, peak)
		if !(s.PSNRYMin <= p) {
			s.PSNRYMin = p
		}
		mean += min(float64(p), maxDecibel)
		sum.MSEY += x.MSEY
		sum.MSE += x.MSE
		sum.MSEWorst += x.MSEWorst
		sum.SSIMY += x.SSIMY
		sum.SSIM += x.SSIM
		sum.VIF += x.VIF
		sum.Speckle += x.Speckle
		sum.LPIPS += x.LPIPS
		detail += x.detail
		change.add(x.change)
		divergent.add(x.divergent)
	}
	s.PSNRY, s.PSNR, s.PSNRYMean = psnr(sum.MSEY/n, peak), psnr(sum.MSE/n, peak), report.Decibel(mean/n)
	s.PSNRYWorst, s.PSNRYChange = psnr(sum.MSEWorst/n, peak), psnr(change.mean(), peak)
	s.PSNRDiv = psnr(divergent.mean(), peak)
	s.SSIMY, s.SSIM, s.VIF = report.Ratio(sum.SSIMY/n), report.Ratio(sum.SSIM/n), report.Ratio(sum.VIF/n)
	s.Speckle = report.Million(1e6 * sum.Speckle / n)
	s.LPIPS, s.Detail = report.Ratio(sum.LPIPS/n), report.Ratio(detail/n)
	return s
}

// pool is a mean of the frames that have a figure.
type pool struct{ sum, n float64 }

func (p *pool) add(v float64) {
	if !math.IsNaN(v) {
		p.sum += v
		p.n++
	}
}

func (p *pool) mean() float64 { return p.sum / p.n }

// judge compares each setting with the best peer.
func judge(r *report.Report) (lines []string) {
	var peers []report.Method
	for _, m := range r.Methods {
		if m.Kind == report.Peer {
			peers = append(peers, m)
		}
	}
	byPSNR := func(a, b report.Method) int { return cmp.Compare(a.Total.PSNRY, b.Total.PSNRY) }
	for _, m := range r.Methods {
		if m.Kind != report.Retime {
			continue
		}
		line := fmt.Sprintf("%s makes a frame at %.2f dB PSNR (%s) in %.3f s", m.Name, m.Total.PSNRY, r.Clip.Plane, m.SecondsPerFrame)
		if len(peers) > 0 {
			best := slices.MaxFunc(peers, byPSNR)
			d := float64(m.Total.PSNRY - best.Total.PSNRY)
			switch {
			case math.Abs(d) < 0.005 || math.IsNaN(d):
				line += fmt.Sprintf(", level with the best peer, %s", best.Name)
			case d > 0:
				line += fmt.Sprintf(", %.2f dB above the best peer, %s", d, best.Name)
			default:
				line += fmt.Sprintf(", %.2f dB below the best peer, %s", -d, best.Name)
			}
		}
		lines = append(lines, line+".")
	}
	return lines
}
