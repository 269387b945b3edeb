package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"retime/cuda"
	"retime/flow/opencv"
	"retime/frame/simd"
	"retime/pipeline/media"
	"retime/pipeline/media/exr"
)

func newInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "List libraries, encoders and GPUs, and report anything missing",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// If there is a device, the build with CUDA can tell more.
			why := replaceByCUDA()
			info(cmd.OutOrStdout(), why)
			return nil
		},
	}
}

// encoders lists the encoders to mention, by what they encode.
var encoders = []struct {
	kind  string
	names []string
}{
	{"H.264", []string{"libx264", "h264_nvenc", "h264_vaapi", "h264_qsv"}},
	{"HEVC", []string{"libx265", "hevc_nvenc", "hevc_vaapi", "hevc_qsv"}},
	{"AV1", []string{"libsvtav1", "libaom-av1", "av1_nvenc"}},
	{"VP9", []string{"libvpx-vp9"}},
	{"ProRes, DNxHR", []string{"prores_ks", "dnxhd"}},
	{"lossless", []string{"ffv1", "huffyuv", "rawvideo"}},
}

// info prints the parts and processors that the program uses. noCUDA is the reason why
// this program is not the build with CUDA.
func info(w io.Writer, noCUDA error) {
	fmt.Fprintf(w, "retime %s, %s, %s/%s, %d processors\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Fprintf(w, "vector instructions %s\n", instructions())
	b := media.FFmpeg()
	fmt.Fprintf(w, "FFmpeg %s: %s; %s\n", b.Version, strings.Join(b.Libraries, ", "), b.Licence)
	if v := opencv.Version(); v != "" {
		fmt.Fprintf(w, "OpenCV %s\n", v)
	} else {
		fmt.Fprintf(w, "OpenCV: not in this build; --flow opencv-dis and farneback need it\n")
	}
	if v := exr.Version(); v != "" {
		fmt.Fprintf(w, "OpenEXR %s\n", v)
	} else {
		fmt.Fprintf(w, "OpenEXR: not in this build; sequences of it keep colour and alpha alone\n")
	}
	fmt.Fprintf(w, "encoders\n")
	for _, e := range encoders {
		var have, miss []string
		for _, name := range e.names {
			if media.HasEncoder(name) {
				have = append(have, name)
			} else {
				miss = append(miss, name)
			}
		}
		line := strings.Join(have, " ")
		if len(miss) > 0 {
			line = strings.TrimSpace(line + " (missing: " + strings.Join(miss, " ") + ")")
		}
		fmt.Fprintf(w, "  %-14s %s\n", e.kind, line)
	}
	infoCUDA(w, noCUDA)
}

// instructions names the vector instructions that the inner loops use, and those that
// RETIME_SIMD could choose in their place.
func instructions() string {
	var others []string
	for _, l := range simd.Levels() {
		if l != simd.Chosen() {
			others = append(others, l.String())
		}
	}
	if len(others) == 0 {
		return simd.Chosen().String()
	}
	return fmt.Sprintf("%v (%s=%s chooses others)", simd.Chosen(), simd.Variable, strings.Join(others, "|"))
}

func infoCUDA(w io.Writer, noCUDA error) {
	count, version, err := cuda.Probe()
	switch {
	case errors.Is(err, cuda.ErrNoDriver):
		fmt.Fprintf(w, "CUDA: %v\n", err)
	case err != nil:
		fmt.Fprintf(w, "CUDA: driver for CUDA %d.%d: %v\n", version/1000, version%1000/10, err)
	case count == 0:
		fmt.Fprintf(w, "CUDA: driver for CUDA %d.%d, %v\n", version/1000, version%1000/10, cuda.ErrNoDevice)
	default:
		fmt.Fprintf(w, "CUDA: driver for CUDA %d.%d, devices: %d\n", version/1000, version%1000/10, count)
	}
	if !cuda.Built {
		if count > 0 {
			fmt.Fprintf(w, "  not used: %v\n", noCUDA)
		}
		return
	}
	fmt.Fprintf(w, "  kernels for %s\n", cuda.Architectures())
	if count == 0 {
		return
	}
	devices, err := cuda.Devices()
	if err != nil {
		fmt.Fprintf(w, "  %v\n", err)
	}
	for _, d := range devices {
		fmt.Fprintf(w, "  %d: %s, compute capability %d.%d, %v, %d multiprocessors, %v of L2\n",
			d.Ordinal, d.Name, d.Major, d.Minor, cuda.Bytes(d.Memory), d.Multiprocessors, cuda.Bytes(d.L2))
	}
}
