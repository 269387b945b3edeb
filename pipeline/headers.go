package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"retime/pipeline/media"
	"retime/pipeline/media/dpx"
	"retime/pipeline/stages"
	"retime/warp"
)

// keepHeaders has a DPX sequence that is made of another keep the headers of its pictures, unless somebody says how to
// encode them: shot frames are the source's files, but for the rate, and made ones have the header of the nearer picture.
func (c *Clip) keepHeaders(w *media.WriterOptions) {
	o := &c.Options
	_, numbered := c.Source.Picture(0)
	if !numbered || c.Source.Video().Codec != "dpx" || !media.IsSequence(o.Output.File) || !strings.EqualFold(filepath.Ext(o.Output.File), ".dpx") || c.encoded() != "" {
		return
	}
	k := &headerKeeper{clip: c}
	w.Complete = k.complete
	origin := o.Hooks.Origin
	o.Hooks.Origin = func(f stages.Origin) {
		k.next(f)
		if origin != nil {
			origin(f)
		}
	}
}

// headerKeeper gives pictures that an encoder makes the headers of the source's. next and complete may be called from two
// goroutines.
type headerKeeper struct {
	clip    *Clip
	mu      sync.Mutex
	waiting []stages.Origin // of frames whose pictures the encoder has yet
}

func (k *headerKeeper) next(f stages.Origin) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting = append(k.waiting, f)
}

// complete returns the picture of the frame that next told of first among those that it has not returned.
func (k *headerKeeper) complete(encoded []byte) ([]byte, error) {
	k.mu.Lock()
	f := k.waiting[0]
	k.waiting = k.waiting[1:]
	k.mu.Unlock()
	rate := k.clip.Plan.Rate
	if k.clip.Options.Timing.KeepTimestamps {
		rate = nil // shot frames are the files that they were
	}
	if file, err := k.read(f.Shown); err == nil {
		dpx.SetRate(file, rate)
		return file, nil
	}
	pictures := f.Pictures[:]
	if f.Phase >= warp.PhaseOne/2 {
		pictures = []int64{f.Pictures[1], f.Pictures[0]}
	}
	if f.Replaced != nil {
		pictures = append([]int64{f.Replaced.Number}, pictures...)
	}
	for _, n := range pictures {
		model, err := k.read(n)
		if err != nil {
			continue
		}
		if whole, ok := dpx.Graft(encoded, model, rate); ok {
			return whole, nil
		}
	}
	return encoded, nil
}

// read reads picture n of the input.
func (k *headerKeeper) read(n int64) ([]byte, error) {
	name, ok := k.clip.Source.Picture(n)
	if n < 0 || !ok {
		return nil, os.ErrNotExist
	}
	return os.ReadFile(name)
}
