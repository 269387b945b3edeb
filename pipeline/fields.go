package pipeline

import (
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// fieldMode returns how interlaced pictures become progressive.
func (in *Input) fieldMode() media.FieldMode {
	if in.Deinterlace == IgnoreFields {
		return media.KeepFields
	}
	return media.FieldMode(in.Deinterlace)
}

// CheckFields returns a fault.Usage error if the input's video is interlaced and Deinterlace does not say what becomes of it.
func (in *Input) CheckFields(v media.Video) error {
	switch {
	case !v.Interlaced || in.Deinterlace != RefuseFields:
		return nil
	case v.SingleFields():
		return media.SingleFieldsError(in.File)
	}
	return fault.New(fault.Usage, "input %q is interlaced, and fields of different times in one picture cannot move as one: "+
		"Input.Deinterlace makes a picture of each field, Input.Deinterlace telecine finds film's frames in 3:2 pulldown, Input.Deinterlace off takes pictures as they are", in.File)
}
