package main

import (
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
)

// maxCurve bounds the size of the file of --curve in bytes, comments included.
const maxCurve = 1 << 20

// readCurve reads the keyframes in the file of --curve.
func readCurve(name string) ([]curve.Keyframe, error) {
	f, err := plainfile.OpenText(name, maxCurve)
	if err != nil {
		return nil, fault.New(fault.NoInput, "--curve: %w", err)
	}
	defer f.Close()
	keys, err := timeline.ParseKeyframes(f)
	if err != nil {
		return nil, fault.New(fault.Usage, "--curve %s: %w", name, err)
	}
	return keys, nil
}
