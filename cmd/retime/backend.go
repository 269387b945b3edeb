package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"retime/cuda"
	"retime/pipeline"
	"retime/pipeline/fault"
)

// cudaProgram is the name of this program's build with CUDA, in the same directory.
const cudaProgram = "retime-cuda"

// chooseProgram replaces this program by its build with CUDA if the backend asks for
// that and a device probably answers. If it returns without an error, this program goes on; why
// then tells why auto chose the CPU.
func chooseProgram(b pipeline.Backend) (why string, err error) {
	switch b {
	case pipeline.CUDA:
		if err := replaceByCUDA(); err != nil {
			return "", fault.New(fault.TryAgain, "--backend cuda: %w; use --backend cpu", err)
		}
	case pipeline.Auto:
		if err := replaceByCUDA(); err != nil {
			return err.Error(), nil
		}
	}
	return "", nil
}

// replaceByCUDA replaces this program by its build with CUDA unless this is that build.
// Its error tells why it could not, or why neither build can use a device.
func replaceByCUDA() error {
	if !cuda.Built && cuda.Likely() {
		if program, err := findCUDAProgram(); err == nil {
			return replaceBy(program) // which asks for itself whether a device answers
		}
	}
	n, _, err := cuda.Probe()
	if err != nil {
		return err
	}
	if n == 0 {
		return cuda.ErrNoDevice
	}
	if cuda.Built {
		_, err := cuda.Devices()
		return err
	}
	program, err := findCUDAProgram()
	if err != nil {
		return fmt.Errorf("a CUDA device answers, but %w", err)
	}
	return replaceBy(program)
}

func findCUDAProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	program := filepath.Join(filepath.Dir(self), cudaProgram+filepath.Ext(self))
	if _, err := os.Stat(program); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", errors.New(program + " is not there (make cuda builds it)")
		}
		return "", err
	}
	return program, nil
}
