package media_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// Where a device does not answer, a name is an error that says what there is, and
// auto goes on without.
func TestDevices(t *testing.T) {
	clip := writeScene(t, 320, 240, 3, 24, 1)
	for _, codec := range []string{"h264_nvenc", "h264_vaapi", "h264_qsv"} {
		o := lossless(t, clip)
		o.Output.VideoCodec, o.Synthesis.Mode = codec, warp.Blend
		switch _, err := pipeline.Run(context.Background(), o); {
		case err == nil:
			if frames, _, _ := readAll(t, o.Output.File); len(frames) != 3 {
				t.Errorf("%s: %d frames", codec, len(frames))
			}
		case fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "this build and machine have libx264"):
			t.Errorf("%s: %v, want a list of encoders", codec, err)
		}
	}
	o := lossless(t, clip)
	o.Output.VideoCodec = "av1_nvenc" // which FFmpeg 5.1 has not
	if _, err := pipeline.Run(context.Background(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(fmt.Sprint(err), "av1") {
		t.Errorf("av1_nvenc: %v", err)
	}
	for _, c := range []struct {
		device media.HWDec
		kind   fault.Kind
	}{{media.HWNone, 0}, {media.HWAuto, 0}, {media.HWCUDA, fault.TryAgain}, {media.HWVAAPI, fault.TryAgain}, {"abacus", fault.Usage}} {
		o := lossless(t, clip)
		o.Input.HWDec, o.Synthesis.Mode = c.device, warp.Blend
		if _, err := pipeline.Run(context.Background(), o); err != nil && fault.KindOf(err) != c.kind || err == nil && c.kind == fault.Usage {
			t.Errorf("Input.HWDec %s: %v, want kind %d or none", c.device, err, c.kind)
		}
	}
}
