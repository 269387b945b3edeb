package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
)

// Flow from elsewhere comes from below the directory that a conversion is confined to, and
// from no command.
func TestConfinedFlow(t *testing.T) {
	top, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(top, "flow"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(top, "away")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flow motion.Method
		good bool
	}{
		{motion.DIS, true},
		{motion.Method("files=" + top + "/flow/%05d.flo"), true},
		{motion.Method("files=" + top + "/away/%05d.flo"), false},
		{motion.Method("files=" + elsewhere + "/%05d.flo"), false},
		{"command=cat", false},
	} {
		o := pipeline.Options{Synthesis: pipeline.Synthesis{Flow: c.flow}, Compute: pipeline.Compute{Confine: top}}
		_, err := o.Settle()
		if c.good != (err == nil) || err != nil && (fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "Compute.Confine")) {
			t.Errorf("%s: %v", c.flow, err)
		}
	}
}
