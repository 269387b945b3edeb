package motion

// newOwn returns the estimate of method DIS with a preset.
func newOwn(p Params) (estimate, error) { return newOpenCV(OpenCVDIS) }
