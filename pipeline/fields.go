package pipeline

import (
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// FieldMode returns how interlaced pictures become progressive.
func (d Deinterlace) FieldMode() media.FieldMode {
	if d == IgnoreFields {
		return media.KeepFields
	}
	return media.FieldMode(d)
}

// CheckFields returns a fault.Usage error if the video of the named input is interlaced and d does not say what becomes of it.
func (d Deinterlace) CheckFields(input string, v media.Video) error {
	switch {
	case !v.Interlaced || d != RefuseFields:
		return nil
	case v.SingleFields():
		return media.SingleFieldsError(input)
	}
	return fault.New(fault.Usage, "input %q is interlaced, and fields of different times in one picture cannot move as one: "+
		"Input.Deinterlace makes a picture of each field, Input.Deinterlace telecine finds film's frames in 3:2 pulldown, Input.Deinterlace off takes pictures as they are", input)
}
