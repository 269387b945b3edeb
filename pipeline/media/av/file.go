package av

/*
#cgo pkg-config: libavformat
#include <stdatomic.h>
#include <stdlib.h>
#include "compat.h"

struct flag { atomic_int up; };

static int is_up(void *flag) { return atomic_load(&((struct flag *)flag)->up); }
static struct flag *new_flag(void) { return calloc(1, sizeof(struct flag)); }
static void raise_flag(struct flag *flag) { atomic_store(&flag->up, 1); }
static void watch(AVFormatContext *c, struct flag *flag) { c->interrupt_callback = (AVIOInterruptCB){ is_up, flag }; }
static int write_all(AVIOContext *f, const void *data, int size) { avio_write(f, data, size); return f->error; }
static void set_pb(AVFormatContext *c, AVIOContext *f) { c->pb = f; }
*/
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// File is an AVIOContext.
type File struct{ c *C.AVIOContext }

// OpenFile opens the file at url, which is in FFmpeg's form, for reading (avio_open).
// Call Close after use.
func OpenFile(url string) (*File, error) { return openFile(url, C.AVIO_FLAG_READ) }

// CreateFile opens the file at url, which is in FFmpeg's form, for writing (avio_open).
// Call Close after use.
func CreateFile(url string) (*File, error) { return openFile(url, C.AVIO_FLAG_WRITE) }

func openFile(url string, flags C.int) (*File, error) {
	var f File
	err := status(withString(url, func(u *C.char) C.int { return C.avio_open(&f.c, u, flags) }))
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// Use makes c read or write f (AVFormatContext.pb).
func (f *File) Use(c *astiav.FormatContext) { C.set_pb(context(c), f.c) }

// Write writes data (avio_write).
func (f *File) Write(data []byte) error {
	return status(C.write_all(f.c, unsafe.Pointer(unsafe.SliceData(data)), C.int(len(data))))
}

// Flush writes what is buffered (avio_flush).
func (f *File) Flush() { C.avio_flush(f.c) }

// Close writes what is buffered and closes the file (avio_closep). f is of no use
// afterwards.
func (f *File) Close() error { return status(C.avio_closep(&f.c)) }

// Interrupter stops reads and writes of FFmpeg's (AVFormatContext.interrupt_callback). The
// FormatContexts that it watches must not outlive it.
type Interrupter struct{ flag *C.struct_flag }

// NewInterrupter returns an interrupter that has not been called. Its memory is freed
// with it.
func NewInterrupter() *Interrupter {
	i := &Interrupter{C.new_flag()}
	runtime.AddCleanup(i, func(flag *C.struct_flag) { C.free(unsafe.Pointer(flag)) }, i.flag)
	return i
}

// Watch makes i stop c's reads and writes. Call it before opening c.
func (i *Interrupter) Watch(c *astiav.FormatContext) { C.watch(context(c), i.flag) }

// Interrupt makes the reads and writes of what i watches fail from now on.
func (i *Interrupter) Interrupt() {
	C.raise_flag(i.flag)
	runtime.KeepAlive(i)
}
