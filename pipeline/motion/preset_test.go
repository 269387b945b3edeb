package motion

import "testing"

func TestLevel(t *testing.T) {
	for _, c := range []struct {
		width, height        int
		fast, balanced, best int
	}{
		{1, 1, 2, 0, 0},
		{640, 480, 2, 0, 0},
		{959, 540, 2, 0, 0},
		{540, 959, 2, 0, 0},
		{960, 540, 2, 1, 0},
		{1920, 1080, 2, 1, 0},
		{2048, 2048, 2, 1, 0},
		{2049, 2048, 2, 2, 1},
		{7680, 4320, 2, 2, 1},
	} {
		for preset, want := range map[Preset]int{Fast: c.fast, Balanced: c.balanced, Best: c.best} {
			if got := preset.Level(c.width, c.height); got != want {
				t.Errorf("%s, %dx%d: level %d, want %d", preset, c.width, c.height, got, want)
			}
		}
	}
}
