package timeline

import (
	"math/big"
	"testing"

	"retime/pipeline/fault"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]string{
		"60": "60", "25.0": "25", "59.94": "60000/1001", "29.97": "30000/1001", "23.976": "24000/1001",
		"23.98": "24000/1001", "119.88": "120000/1001", "47.952": "48000/1001", "60000/1001": "60000/1001",
		"12.5": "25/2", "23.97": "2397/100", "24.5": "49/2", "1/2": "1/2", "2x": "2", "2.5x": "5/2", "0.001": "1/1000", "1/100000": "1/100000", "10000": "10000",
	} {
		r, err := ParseRate(text)
		if err != nil {
			t.Errorf("ParseRate(%q): %v", text, err)
		} else if r.Value.RatString() != want {
			t.Errorf("ParseRate(%q) = %s, want %s", text, r.Value.RatString(), want)
		}
		if r.Multiple != (text[len(text)-1] == 'x') {
			t.Errorf("ParseRate(%q).Multiple = %v", text, r.Multiple)
		}
	}
	for _, text := range []string{
		"", "0", "x", "-1", "1e9", "1000000000", "60/0", "0/1", "/", "1/", "/2", ".", "1.2.3", "1.5/2", "60fps", "+60",
		"0.0000001", "1/100001", "0.0000001x", "10001", "10001x", "0x10", "1_000", "NaN", "Inf", "999999999999999999999", " ",
	} {
		if r, err := ParseRate(text); err == nil {
			t.Errorf("ParseRate(%q) = %v, want an error", text, r.Value)
		} else if fault.KindOf(err) != fault.Usage {
			t.Errorf("ParseRate(%q): kind %d, want usage", text, fault.KindOf(err))
		}
	}
}

func TestParsers(t *testing.T) {
	for _, c := range []struct {
		name  string
		parse func(string) (*big.Rat, error)
		good  map[string]string
		bad   []string
	}{
		{"ParseTime", ParseTime, map[string]string{
			"0": "0", "12.5": "25/2", "90": "90", "1:30": "90", "01:02:03.25": "14893/4", "0:0.001": "1/1000", "100:00": "6000",
		}, []string{"", ":", "1:", ":1", "1:60", "1:2:3:4", "1.5:00", "-1", "1/2", "1e3", "a", "1:-2"}},
		{"ParseSlow", ParseSlow, map[string]string{"1": "1", "4": "4", "2.5": "5/2", "5/2": "5/2", "1000": "1000"}, []string{"", "0", "0.5", "1001", "-2", "2x"}},
		{"ParseSpeed", ParseSpeed, map[string]string{"1": "1", "2": "1/2", "2.5": "2/5", "1/4": "4", "0.001": "1000"}, []string{"", "0", "0.0009", "1001", "-2", "2x"}},
	} {
		for text, want := range c.good {
			if got, err := c.parse(text); err != nil || got.RatString() != want {
				t.Errorf("%s(%q) = %v, %v; want %s", c.name, text, got, err, want)
			}
		}
		for _, text := range c.bad {
			if got, err := c.parse(text); err == nil {
				t.Errorf("%s(%q) = %v, want an error", c.name, text, got)
			}
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"60", "59.94", "60000/1001", "2x", "0.001", "1.5/2", "999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			return
		}
		if r.Value.Sign() <= 0 || r.Value.Cmp(big.NewRat(MaxRate, 1)) > 0 {
			t.Errorf("ParseRate(%q) = %v, out of range", s, r.Value)
		}
	})
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"0", "12.5", "1:30", "01:02:03.25", "1:60", ":"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseTime(s); err == nil && v.Sign() < 0 {
			t.Errorf("ParseTime(%q) = %v", s, v)
		}
	})
}
