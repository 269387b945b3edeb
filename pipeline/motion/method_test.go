package motion

import (
	"testing"

	"retime/pipeline/fault"
)

func TestMethods(t *testing.T) {
	for m, good := range map[Method]bool{
		DIS: true, OpenCVDIS: true, Farneback: true, "": false, "DIS": false, "medium": false,
		"files=a/%d.flo": true, "files=%05d": true, "files=": false, "files=a.flo": false, "files=%d/%d.flo": false, "files=%s.flo": false,
		"files=%x%d": false, "files=100%%/%d.flo": false, "files=%50d": false, "files=a/v.####.flo": true, "files=a/$F4.flo": true, "files=a/@@@@.flo": true, "files=a/v.####.exr": false, "files=%d.EXR": false, "files=a/%V.%04d.flo": false, "files=%0d.flo": false,
		"command=a": true, "command=": false, "command=  ": false, "files": false,
	} {
		if err := m.Check(); good != (err == nil) || !good && fault.KindOf(err) != fault.Usage {
			t.Errorf("%q: %v", m, err)
		}
	}
}
