package media

import "testing"

func TestSpoiltDV(t *testing.T) {
	const audio = 3
	for _, c := range []struct {
		name             string
		section          byte
		sound, status, n int // blocks without and with this status
		want             bool
	}{
		{"sound", dvVideo, 300, 0, 0, false},
		{"an error", dvVideo, 300, 7, 1, true},
		{"an error after errors", dvVideo, 0, 15, 1, true},
		{"sound of a tape with an error", audio, 300, 7, 1, false},
		{"few concealed", dvVideo, 300, 2, dvTrack - 1, false},
		{"a track concealed", dvVideo, 300, 2, dvTrack, true},
		{"a track concealed otherwise", dvVideo, 300, 14, dvTrack, true},
	} {
		var frame []byte
		for i := range c.sound + c.n {
			block := make([]byte, dvBlock)
			block[0] = c.section << 5
			if i >= c.sound {
				block[3] = byte(c.status) << 4
			}
			frame = append(frame, block...)
		}
		if got := isSpoilt(frame); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
