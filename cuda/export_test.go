package cuda

// SetLanes has d share patches among n threads on levels of any size, or as it would of
// itself if n is 0, from its next change of size on.
func (e *DIS) SetLanes(n int) { e.lanes = n }
