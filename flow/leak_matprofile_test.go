//go:build matprofile

package flow

import (
	"os"
	"testing"

	"gocv.io/x/gocv"
)

// GoCV counts its open matrices if built with its tag matprofile.
func TestMain(m *testing.M) {
	code := m.Run()
	if n := gocv.MatProfile.Count(); n != 0 {
		gocv.MatProfile.WriteTo(os.Stderr, 1)
		code = max(code, 1)
	}
	os.Exit(code)
}
