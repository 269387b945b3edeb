package stages_test

import (
	"retime/internal/cliptest"
	"retime/internal/runtest"
)

// What the tests of conversions share.
var (
	ffmpeg     = cliptest.FFmpeg
	samples    = cliptest.Samples
	readAll    = cliptest.ReadAll
	psnr       = cliptest.PSNR
	writeScene = cliptest.WriteScene
	writeCut   = cliptest.WriteCut
	mustParse  = cliptest.ParseCurve
	ratio      = cliptest.Ratio
	must       = cliptest.Must
	lossless   = runtest.Lossless
	mustRun    = runtest.Run
	settled    = runtest.Settled
)
