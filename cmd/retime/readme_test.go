package main

import (
	"os"
	"strings"
	"testing"
)

// README shows the program that .ci/run builds.
func TestReadmeShowsTheProgramThatImports(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("../../testdata/convert/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "\n```go\n"+string(program)+"```\n") {
		t.Error("README.md does not show testdata/convert/main.go as it is")
	}
}
