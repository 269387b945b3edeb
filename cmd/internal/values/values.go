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
