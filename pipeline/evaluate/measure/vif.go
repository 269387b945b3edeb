package measure

import (
	"errors"
	"fmt"
	"strconv"

	"retime/frame"
	"retime/pipeline/media"
)

// vif measures visual information fidelity (Sheikh and Bovik, "Image Information and Visual
// Quality", IEEE TIP 2006) of the first plane in the pixel domain, as the mean of the four scales
// of FFmpeg's vif filter.
type vif struct {
	filter *media.Filter
	pairs  int64
}

const (
	vifScales = 4
	// vifSide is the smallest picture side that the filter's widest kernel allows.
	vifSide = 16
)

func newVIF(v media.Video, threads int) (*vif, error) {
	if v.Width < vifSide || v.Height < vifSide {
		return nil, fmt.Errorf("pictures of %dx%d are too small for it", v.Width, v.Height)
	}
	f, err := media.NewFilter("[in0][in1]vif[out]", 2, v, threads)
	if err != nil {
		return nil, err
	}
	return &vif{filter: f}, nil
}

func (v *vif) measure(truth, made *frame.Frame) (float64, error) {
	for i, f := range []*frame.Frame{made, truth} { // the filter expects the reference second
		if err := v.filter.Send(i, f, v.pairs); err != nil {
			return 0, err
		}
	}
	v.pairs++
	out, err := v.filter.Receive()
	if err != nil {
		return 0, fmt.Errorf("measure VIF: %w", err)
	}
	defer out.Release()
	var sum float64
	for scale := range vifScales {
		text, ok := media.Metadata(out, "lavfi.vif.scale."+strconv.Itoa(scale))
		value, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil {
			return 0, errors.New("measure VIF: FFmpeg's filter gives no value")
		}
		sum += value
	}
	return sum / vifScales, nil
}

func (v *vif) close() { v.filter.Close() }
