package media

import (
	"fmt"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
)

// HWDec names the hardware that decodes.
type HWDec string

// The choices for hardware decoding. The decoded pictures are always copied to main
// memory; those of HWCUDA can stay in the device's memory, too.
const (
	HWNone  HWDec = "none"  // software decoding
	HWAuto  HWDec = "auto"  // the first device that opens, else software decoding
	HWCUDA  HWDec = "cuda"  // NVIDIA's decoder
	HWVAAPI HWDec = "vaapi" // Intel's and AMD's
)

var hwTypes = map[HWDec]av.Device{HWCUDA: av.DeviceCUDA, HWVAAPI: av.DeviceVAAPI}

// Decoding says what decodes, and where.
type Decoding struct {
	HWDec HWDec // empty means HWNone
	CUDA  CUDA  // for HWCUDA
	// MarkDamage marks every picture in which a decoder of the processor finds errors, and no other. One thread decodes for that if
	// several would mark other pictures: of MPEG-4 and interlaced H.264, and of all H.264 before FFmpeg 6.1.
	MarkDamage bool
}

// CUDA is a device on which HWCUDA decodes.
type CUDA struct {
	Device int // its number, from 0
	// Surfaces opens memory for the pictures, once the decoder has its device; nil has them
	// copied to main memory.
	Surfaces func() (Surfaces, error)
}

// useDevice makes the decoder use the device that opt.HWDec names, if any, and returns what
// brings its pictures to main memory.
func useDevice(decoder *astiav.CodecContext, codec *astiav.Codec, opt *ReaderOptions) (fetcher, error) {
	var tried []HWDec
	switch opt.HWDec {
	case "", HWNone:
		return downloads{}, nil
	case HWAuto:
		tried = []HWDec{HWCUDA, HWVAAPI}
	default:
		tried = []HWDec{opt.HWDec}
	}
	var reasons []string
	for _, name := range tried {
		kind, known := hwTypes[name]
		switch {
		case !known:
			return downloads{}, fault.New(fault.Usage, "Input.HWDec %s: choose from auto, none, cuda, vaapi", name)
		case !av.DecodesOn(codec, kind):
			reasons = append(reasons, fmt.Sprintf("%s: %s is not decoded there", name, codec.Name()))
			continue
		}
		message, err := av.WithMessage(func() error { return av.UseDevice(decoder, kind, opt.CUDA.Device) })
		if err == nil {
			opt.Log.Debug("a device decodes", "device", name, "decoder", codec.Name())
			if name == HWCUDA {
				return newFetcher(decoder, opt), nil
			}
			return downloads{}, nil
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v%s", name, err, detail(message)))
	}
	why := strings.Join(reasons, "; ")
	if opt.HWDec == HWAuto {
		opt.Log.Info("no device decodes this; the processor does", "why", why)
		return downloads{}, nil
	}
	return downloads{}, fault.New(fault.TryAgain, "Input.HWDec %s; Input.HWDec none decodes on the processor", why)
}

// insteadOf returns a hint for messages: which encoders of this build open on this
// machine for the same codec as the encoder called name. name need not be an encoder of
// this build, such as "av1_nvenc". The hint is empty if it would not help.
func insteadOf(name string) string {
	var id astiav.CodecID
	if c := astiav.FindEncoderByName(name); c != nil {
		if !av.IsForDevice(c) {
			return ""
		}
		id = c.ID()
	} else {
		base, _, _ := strings.Cut(strings.TrimPrefix(name, "lib"), "_")
		id = av.CodecNamed(base)
	}
	if id == astiav.CodecIDNone {
		return ""
	}
	var names []string
	for _, c := range av.Encoders(id) {
		if av.Opens(c) {
			names = append(names, c.Name())
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("; this build and machine have no encoder for %s", av.CodecName(id))
	}
	return fmt.Sprintf("; for %s this build and machine have %s", av.CodecName(id), strings.Join(names, ", "))
}
