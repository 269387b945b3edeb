package aov

import (
	"strings"
	"testing"

	"retime/pipeline/media/exr"
)

func TestBlends(t *testing.T) {
	for _, name := range strings.Fields("R G B A Y left.R diffuse.R diffuse_direct.G N.X normal.Y specular.B albedo.R depthless.R identity.R grid.R Zebra.R") {
		if !Blends(name, exr.Half) {
			t.Errorf("%s is not mixed", name)
		}
		if Blends(name, exr.Uint) {
			t.Errorf("%s of whole numbers is mixed", name)
		}
	}
	for _, name := range strings.Fields("Z ZBack depth.Z Depth.R id ID objectID objectId.R object_id.R material-id.R CryptoObject00.R crypto_material01.g cryptomatte02.A uCryptoAsset.B P.X Position.x world_position.Y uv.U ST.s motion.u motionVector.X velocity.Z forward.u backward.v") {
		if Blends(name, exr.Float) {
			t.Errorf("%s is mixed", name)
		}
	}
}
