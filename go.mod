module retime

go 1.26

require (
	github.com/asticode/go-astiav v0.16.0 // indirect
	github.com/asticode/go-astikit v0.42.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/cobra v1.9.1 // indirect
	github.com/spf13/pflag v1.0.6 // indirect
	gocv.io/x/gocv v0.32.0 // indirect
	golang.org/x/sync v0.17.0 // indirect
)
