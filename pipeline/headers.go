package pipeline

import (
	"fmt"
	"math/big"
	"os"
	"slices"

	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/dpx"
	"retime/pipeline/stages"
)

// keepHeaders has a DPX sequence that is made of another keep the headers of its pictures, unless somebody says how to
// encode them, or the encoder writes other samples: shot frames are the source's files, but for the rate, and made ones have
// the header of the nearer picture.
func (c *Clip) keepHeaders(w *media.WriterOptions) {
	_, numbered := c.Source.Picture(0)
	if !numbered || c.Source.Video().Codec != "dpx" || !c.Options.Output.isSequence(".dpx") || c.encoded() != "" {
		return
	}
	k := &headerKeeper{clip: c, rate: c.newRate()}
	w.Complete = k.complete
	c.tell(k.frames.Put)
}

// headerKeeper gives pictures that an encoder makes the headers of the source's. What the encoder writes shows in the first
// of them, and decides for all.
type headerKeeper struct {
	clip    *Clip
	rate    *big.Rat
	frames  stages.Waiting[stages.Origin]
	decided bool
	kept    bool // headers are the source's
	warned  bool // that a made picture's is not
}

// complete returns the whole picture of the frame that was told of first among those that it has not returned.
func (k *headerKeeper) complete(encoded []byte) ([]byte, error) {
	f := k.frames.Take()
	if k.decided && !k.kept {
		return encoded, nil
	}
	shot, models, err := k.read(&f)
	if err != nil {
		return nil, fault.New(fault.NoInput, "input %q: %w", k.clip.Options.Input.File, err)
	}
	grafted, fits := graft(encoded, models, k.rate)
	log, input := k.clip.Options.Hooks.Log, k.clip.Options.Input.File
	if !k.decided {
		if k.decided, k.kept = true, fits; !fits {
			log.Warn("pictures get FFmpeg's headers, without transfer, time code and rate: the input's are of another format than it writes, or of several elements", "input", input)
			return encoded, nil
		}
	}
	switch {
	case shot:
		dpx.SetRate(models[0], k.rate)
		return models[0], nil
	case !fits && !k.warned:
		k.warned = true
		log.Warn("a made picture gets FFmpeg's header: the pictures that it lies between have another format than the input's first", "input", input)
	}
	return grafted, nil
}

// read returns the picture that a frame shows, if it was shot, and otherwise those whose headers it may have, the best first.
func (k *headerKeeper) read(f *stages.Origin) (shot bool, files [][]byte, err error) {
	numbers := []int64{f.Shown}
	if shot = f.Shown >= 0; !shot {
		if numbers = f.Pictures[:]; f.NearerSecond() {
			numbers = []int64{f.Pictures[1], f.Pictures[0]}
		}
		if f.Replaced != nil {
			numbers = slices.Insert(slices.Clone(numbers), 0, f.Replaced.Number)
		}
	}
	for _, n := range numbers {
		name, ok := k.clip.Source.Picture(n)
		if !ok && shot {
			return shot, nil, fmt.Errorf("there is no picture %d", n)
		} else if !ok {
			continue // a missing picture that the frame replaces
		}
		file, err := os.ReadFile(name)
		if err != nil {
			return shot, nil, err
		}
		files = append(files, file)
	}
	return shot, files, nil
}

// graft returns an encoder's picture with the header of the first of the models that fit, and as it is if ok is false.
func graft(encoded []byte, models [][]byte, rate *big.Rat) (file []byte, ok bool) {
	for _, m := range models {
		if file, ok = dpx.Graft(encoded, m, rate); ok {
			return file, true
		}
	}
	return encoded, false
}
