package aov

import (
	"strings"
	"testing"

	"retime/pipeline/media/exr"
)

// Names tell which channels are mixed.
func TestNames(t *testing.T) {
	var r Rules
	for _, name := range strings.Fields("R G B A Y left.R diffuse.R diffuse_direct.G N.X normal.Y specular.B albedo.R depthless.R identity.R grid.R Zebra.R") {
		if !r.mixed(name, exr.Half, nil) {
			t.Errorf("%s is not mixed", name)
		}
		if r.mixed(name, exr.Uint, nil) {
			t.Errorf("%s of whole numbers is mixed", name)
		}
	}
	for _, name := range strings.Fields("Z ZBack depth.Z Depth.R id ID objectID objectId.R object_id.R material-id.R CryptoObject00.R crypto_material01.g cryptomatte02.A uCryptoAsset.B P.X Position.x world_position.Y uv.U ST.s motion.u motionVector.X velocity.Z forward.u backward.v") {
		if r.mixed(name, exr.Float, nil) {
			t.Errorf("%s is mixed", name)
		}
	}
}

// Rules come before names and what Cryptomatte's attributes say, and the last one counts.
func TestRules(t *testing.T) {
	r, err := ParseRules([]string{"*.Z=mix", "mask.*=nearest", "mask.soft=mix", "a*b*c=nearest", "matte00.R=mix", "x=y=nearest"})
	if err != nil {
		t.Fatal(err)
	}
	layers := []string{"matte", "part.hidden", ""}
	for name, want := range map[string]bool{
		"depth.Z": true, "Z": false, "mask.R": false, "mask": true, "mask.soft": true, "abc": false, "a1b2b3c": false, "abcd": true, "x=y": false, "ac": true,
		"matte00.R": true, "matte00.G": false, "matte.R": false, "matte": false, "part.matte12.red": false, "mattes.R": true, "format.R": true, "part.hidden00.B": false,
	} {
		if got := r.mixed(name, exr.Float, layers); got != want {
			t.Errorf("%s is mixed: %v", name, got)
		}
	}
	if r.mixed("depth.Z", exr.Uint, nil) {
		t.Error("whole numbers are mixed")
	}
	for _, text := range []string{"", "mix", "=mix", "N", "N=", "N=both", "N=mix "} {
		if _, err := ParseRules([]string{text}); err == nil {
			t.Errorf("%q is a rule", text)
		}
	}
	parts := []exr.Part{{Name: "beauty", Planes: []exr.Plane{{Name: "R", Type: exr.Half}, {Name: "number"}}}, {Name: "more", Planes: []exr.Plane{{Name: "N.X", Type: exr.Half}}}}
	for text, want := range map[string]string{
		"R=nearest": "", "number=nearest": "", "*=mix": "", "more.N*=nearest": "", "more.N.X=mix": "",
		"N.X=mix": "no such channel; it has R, number, more.N.X", "beauty.R=mix": "no such channel", "number=mix": "whole numbers", "r=mix": "no such channel",
	} {
		r, err := ParseRules([]string{text})
		if err == nil {
			err = r.check(parts)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
