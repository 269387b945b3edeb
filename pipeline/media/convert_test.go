package media_test

import (
	"retime/internal/cliptest"
	"retime/internal/runtest"
)

// The tests of this package convert clips, as nothing else uses all of a Reader and a Writer. They
// share these.
var (
	ffmpeg     = cliptest.FFmpeg
	program    = cliptest.Program
	readAll    = cliptest.ReadAll
	psnr       = cliptest.PSNR
	writeScene = cliptest.WriteScene
	streamsOf  = cliptest.StreamsOf
	mustParse  = cliptest.ParseCurve
	wantEmpty  = cliptest.WantEmpty
	ratio      = cliptest.Ratio
	lossless   = runtest.Lossless
	mustRun    = runtest.Run
)
