package motion

import "testing"

func TestScale(t *testing.T) {
	for _, c := range []struct {
		width, height  int
		fast, balanced int // levels
		best           Scale
	}{
		{1, 1, 2, 0, Scale{}},
		{640, 480, 2, 0, Scale{}},
		{959, 540, 2, 0, Scale{}},
		{540, 959, 2, 0, Scale{}},
		{960, 540, 2, 1, Scale{1, true}},
		{1920, 1080, 2, 1, Scale{1, true}},
		{2048, 2048, 2, 1, Scale{1, true}},
		{2049, 2048, 2, 2, Scale{2, true}},
		{7680, 4320, 2, 2, Scale{2, true}},
	} {
		for preset, want := range map[Preset]Scale{Fast: {Level: c.fast}, Balanced: {Level: c.balanced}, Best: c.best} {
			if got := preset.Scale(c.width, c.height); got != want {
				t.Errorf("%s, %dx%d: %+v, want %+v", preset, c.width, c.height, got, want)
			}
		}
	}
}
