package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"golang.org/x/sys/windows"
)

// codePageUTF8 is the code page of UTF-8.
const codePageUTF8 = 65001

// prepareStandardStreams has consoles show what is written to them, by Go and by C, as UTF-8 with
// ANSI's control sequences.
func prepareStandardStreams() {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		var mode uint32
		if h := windows.Handle(f.Fd()); windows.GetConsoleMode(h, &mode) == nil {
			_ = windows.SetConsoleMode(h, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
			_ = windows.SetConsoleOutputCP(codePageUTF8)
		}
	}
}

// replaceBy runs another program with the same arguments, and ends as that does, or returns an
// error. The console tells both of Ctrl-C, and this program waits.
func replaceBy(program string) error {
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if e := (*exec.ExitError)(nil); err == nil || errors.As(err, &e) {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return fmt.Errorf("start %s: %w", program, err)
}

// openAddress opens an address in the user's browser.
func openAddress(url string) error {
	verb, err := windows.UTF16PtrFromString("open")
	if err != nil {
		return err
	}
	file, err := windows.UTF16PtrFromString(url)
	if err != nil {
		return err
	}
	return windows.ShellExecute(0, verb, file, nil, nil, windows.SW_SHOWNORMAL)
}

// quotes matches what Go's %q writes.
var quotes = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// shown returns a message whose quotes hold names as users write them: Go's double each backslash.
func shown(message string) string {
	return quotes.ReplaceAllStringFunc(message, func(name string) string { return strings.ReplaceAll(name, `\\`, `\`) })
}
