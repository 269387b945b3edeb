// Package values reads the values of flags that several programs have.
package values

import (
	"slices"
	"strconv"
	"strings"

	"retime/pipeline/fault"
)

// Devices reads --device: device numbers, with commas between them.
func Devices(list string) ([]int, error) {
	var devices []int
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 0 || slices.Contains(devices, n) {
			return nil, fault.New(fault.Usage, "--device %q: want different numbers from 0, such as 0,1", list)
		}
		devices = append(devices, n)
	}
	return devices, nil
}

// Memory reads --device-memory: a number of bytes, or of MiB or GiB.
func Memory(text string) (bytes int64, err error) {
	number, unit := text, int64(1)
	for suffix, u := range map[string]int64{"M": 1 << 20, "G": 1 << 30} {
		if n, ok := strings.CutSuffix(text, suffix); ok {
			number, unit = n, u
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0 && v*float64(unit) <= 1<<50) {
		return 0, fault.New(fault.Usage, "--device-memory %q: want bytes, or MiB or GiB as in 700M or 1.5G", text)
	}
	return int64(v * float64(unit)), nil
}

// Size reads --size: a picture's size in samples.
func Size(text string) (width, height int, err error) {
	w, h, ok := strings.Cut(text, "x")
	across, errW := strconv.ParseUint(w, 10, 31)
	down, errH := strconv.ParseUint(h, 10, 31)
	if !ok || errW != nil || errH != nil || across == 0 || down == 0 {
		return 0, 0, fault.New(fault.Usage, "--size %q: want WIDTHxHEIGHT, as in 640x480", text)
	}
	return int(across), int(down), nil
}
