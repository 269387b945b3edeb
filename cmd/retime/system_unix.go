//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// prepareStandardStreams moves standard error to another descriptor. Go ends a program that
// writes to descriptor 2 if that is a pipe that nobody reads; such a write to another
// descriptor fails, which ends nothing.
func prepareStandardStreams() {
	if fd, ok := messageDescriptor(); ok {
		os.Stderr = os.NewFile(uintptr(fd), os.Stderr.Name())
		return
	}
	if fd, err := unix.FcntlInt(os.Stderr.Fd(), unix.F_DUPFD_CLOEXEC, 3); err == nil {
		os.Stderr = os.NewFile(uintptr(fd), os.Stderr.Name())
	}
}

// replaceBy replaces this program by another one with the same arguments, or returns an error.
func replaceBy(program string) error {
	if fd, ok := messageDescriptor(); ok {
		_ = unix.Dup3(fd, unix.Stderr, 0)
	}
	err := syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ())
	return fmt.Errorf("start %s: %w", program, err)
}

// openAddress opens an address in the user's browser. Ctrl-C is for the server alone.
func openAddress(url string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	cmd := exec.Command(opener, url)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the browser's own business
	return nil
}

// shown returns a message as it is.
func shown(message string) string { return message }
