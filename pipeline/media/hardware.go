package media

import (
	"fmt"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
)

// HWDec says which device decodes.
type HWDec string

// The devices. Pictures that a device has decoded are downloaded.
const (
	HWNone  HWDec = "none"  // the processor
	HWAuto  HWDec = "auto"  // the first that answers, else the processor
	HWCUDA  HWDec = "cuda"  // NVIDIA's decoder
	HWVAAPI HWDec = "vaapi" // Intel's and AMD's
)

var hwTypes = map[HWDec]av.Device{HWCUDA: av.DeviceCUDA, HWVAAPI: av.DeviceVAAPI}

// useDevice lets a device decode, if one is wanted.
func useDevice(decoder *astiav.CodecContext, codec *astiav.Codec, opt *ReaderOptions) error {
	var tried []HWDec
	switch opt.HWDec {
	case "", HWNone:
		return nil
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
			return fault.New(fault.Usage, "Input.HWDec %s: choose from auto, none, cuda, vaapi", name)
		case !av.DecodesOn(codec, kind):
			reasons = append(reasons, fmt.Sprintf("%s: %s is not decoded there", name, codec.Name()))
			continue
		}
		message, err := av.WithMessage(func() error { return av.UseDevice(decoder, kind) })
		if err == nil {
			opt.Log.Debug("a device decodes", "device", name, "decoder", codec.Name())
			return nil
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v%s", name, err, detail(message)))
	}
	why := strings.Join(reasons, "; ")
	if opt.HWDec == HWAuto {
		opt.Log.Info("no device decodes this; the processor does", "why", why)
		return nil
	}
	return fault.New(fault.TryAgain, "Input.HWDec %s; Input.HWDec none decodes on the processor", why)
}

// download returns f, or a copy of it in memory if it lies on a device. It
// takes f over.
func download(f *astiav.Frame) (*astiav.Frame, error) {
	if !av.OnDevice(f) {
		return f, nil
	}
	defer f.Free()
	out := astiav.AllocFrame()
	err := f.TransferHardwareData(out)
	if err == nil {
		err = av.CopyFrameProps(out, f)
	}
	if err != nil {
		out.Free()
		return nil, fmt.Errorf("download a picture from the device: %w", err)
	}
	return out, nil
}

// insteadOf says which encoders there are for the codec of one that is not to be
// had: those of this build that open on this machine. name may be of none, such as
// "av1_nvenc". It is empty if that is no help.
func insteadOf(name string) string {
	id := astiav.CodecIDNone
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
