module retime

go 1.26

require (
	github.com/asticode/go-astiav v0.16.0
	github.com/schollz/progressbar/v3 v3.18.0
	github.com/spf13/cobra v1.9.1
	github.com/spf13/pflag v1.0.6
	golang.org/x/image v0.41.0
	golang.org/x/sync v0.17.0
	golang.org/x/term v0.28.0
)

require (
	github.com/asticode/go-astikit v0.42.0 // indirect
	github.com/goccy/go-yaml v1.18.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/sys v0.29.0 // indirect
)
