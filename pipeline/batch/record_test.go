package batch

import (
	"encoding/json"
	"testing"
)

// A record that decodes belongs to the job and has a known state.
func FuzzDecodeRecord(f *testing.F) {
	good, err := json.Marshal(record{Version: recordVersion, Key: "/out.mp4", State: Done})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":1,"key":"/out.mp4","state":"running"} {}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRecord(b, "/out.mp4")
		if err != nil {
			return
		}
		if r.Key != "/out.mp4" || r.Version != recordVersion {
			t.Errorf("%+v", r)
		}
		switch r.State {
		case Pending, Running, Done, Failed:
		default:
			t.Errorf("state %q", r.State)
		}
	})
}
