//go:build cuda

package cuda

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"gorgonia.org/cu"
)

// fatbins are the kernels: one file for each kernels/MODULE.cu, with machine code
// for the architectures that the Makefile names and PTX for later ones.
//
//go:embed fatbin/*.fatbin
var fatbins embed.FS

//go:embed fatbin/architectures
var architectures string

// Architectures says what the kernels in this program are compiled for, such as
// "sm_80 sm_90 and PTX 9.0".
func Architectures() string { return strings.TrimSpace(architectures) }

// modules are those that a context has loaded.
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
		return mod, &Error{"cuModuleLoadData", err}
	}
	if m.loaded == nil {
		m.loaded = map[string]cu.Module{}
	}
	m.loaded[name] = mod
	return mod, nil
}
