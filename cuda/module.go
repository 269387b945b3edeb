//go:build cuda

package cuda

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"gorgonia.org/cu"
)

// fatbins holds the kernels: one file for each kernels/MODULE.cu, with machine code for the
// architectures that the Makefile names and PTX for later ones.
//
//go:embed fatbin/*.fatbin
var fatbins embed.FS

//go:embed fatbin/architectures
var architectures string

// sources holds the current sources of the kernels; compiledFrom is the checksum of the sources
// that fatbins was compiled from.
//
//go:embed kernels/*.cu kernels/*.cuh
var sources embed.FS

//go:embed fatbin/sources
var compiledFrom string

// checkSources returns an error if the kernels were compiled from other sources.
var checkSources = sync.OnceValue(func() error {
	sum := sha256.New()
	for _, pattern := range []string{"kernels/*.cu", "kernels/*.cuh"} {
		names, err := fs.Glob(sources, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := sources.ReadFile(name)
			if err != nil {
				return err
			}
			sum.Write(text)
		}
	}
	if hex.EncodeToString(sum.Sum(nil)) != strings.TrimSpace(compiledFrom) {
		return errors.New("this program's kernels were compiled from other sources than the rest of it; build it with make cuda")
	}
	return nil
})

// Architectures returns the architectures that this program's kernels were compiled for, such as
// "sm_80 sm_90 and PTX 9.0".
func Architectures() string { return strings.TrimSpace(architectures) }

// modules holds the modules that a context has loaded.
type modules struct {
	mu     sync.Mutex
	loaded map[string]cu.Module
}

func (m *modules) load(name string) (cu.Module, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if mod, ok := m.loaded[name]; ok {
		return mod, nil
	}
	image, err := fatbins.ReadFile("fatbin/" + name + ".fatbin")
	if err != nil {
		return cu.Module{}, fmt.Errorf("no kernels called %s in this program: %w", name, fs.ErrNotExist)
	}
	mod, err := cu.LoadData(string(image))
	if err != nil {
		return mod, call("cuModuleLoadData", err)
	}
	if m.loaded == nil {
		m.loaded = map[string]cu.Module{}
	}
	m.loaded[name] = mod
	return mod, nil
}

// unload frees the modules.
func (m *modules) unload() (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mod := range m.loaded {
		err = cmp.Or(err, call("cuModuleUnload", mod.Unload()))
	}
	m.loaded = nil
	return err
}
