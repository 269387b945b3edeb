package main

import (
	"os"

	"retime/pipeline/curve"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

// readCurve reads the keyframes in the file of --curve.
func readCurve(name string) ([]curve.Keyframe, error) {
	f, err := os.Open(name)
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
