package media_test

import (
	"context"
	"math/big"
	"path/filepath"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
)

// What the tests of conversions share.
var (
	ffmpeg     = cliptest.FFmpeg
	program    = cliptest.Program
	readAll    = cliptest.ReadAll
	psnr       = cliptest.PSNR
	writeScene = cliptest.WriteScene
	streamsOf  = cliptest.StreamsOf
	mustParse  = cliptest.ParseCurve
	wantEmpty  = cliptest.WantEmpty
)

// The tests of this package convert clips, as nothing else uses all of a Reader and a Writer.

// lossless returns options that keep every sample.
func lossless(t testing.TB, input string) pipeline.Options {
	return pipeline.Options{
		Input:  pipeline.Input{File: input},
		Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.nut"), VideoCodec: "rawvideo", Overwrite: true},
	}
}

func mustRun(t testing.TB, o pipeline.Options) *pipeline.Report {
	t.Helper()
	report, err := pipeline.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// settled returns options that are settled.
func settled(t testing.TB, o pipeline.Options) *pipeline.Settled {
	t.Helper()
	s, err := o.Settle()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ratio(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}
