// Package runtest runs conversions for tests.
package runtest

import (
	"path/filepath"
	"testing"

	"retime/pipeline"
)

// Lossless returns options that keep every sample, in a file that ends with the test.
func Lossless(t testing.TB, input string) pipeline.Options {
	return pipeline.Options{
		Input:  pipeline.Input{File: input},
		Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.nut"), VideoCodec: "rawvideo", Overwrite: true},
	}
}

// Run runs a conversion; the test fails if that does.
func Run(t testing.TB, o pipeline.Options) *pipeline.Report {
	t.Helper()
	report, err := pipeline.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Settled returns options that are settled.
func Settled(t testing.TB, o pipeline.Options) *pipeline.Settled {
	t.Helper()
	s, err := o.Settle()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
