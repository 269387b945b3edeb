package media

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// lines calls itself for each line of a log.
type lines func()

func (lines) Enabled(context.Context, slog.Level) bool    { return true }
func (l lines) Handle(context.Context, slog.Record) error { l(); return nil }
func (l lines) WithAttrs([]slog.Attr) slog.Handler        { return l }
func (l lines) WithGroup(string) slog.Handler             { return l }

// A decoder that goes on failing is given up, even if it has failed often enough before its
// input ended.
func TestDecoderThatFailsForever(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failures := 0
	c := &decoder{demuxer: &demuxer{ctx: ctx}, damageCount: damageCount{errors: av.NewErrorCount()}}
	c.context = astiav.AllocCodecContext(astiav.FindDecoder(astiav.CodecIDH264)) // not open, so that it fails
	c.options = &ReaderOptions{To: big.NewRat(1, 1), Log: slog.New(lines(func() {
		switch failures++; failures {
		case maxReadErrors + 1:
			c.draining = true
		case 3 * maxReadErrors:
			cancel()
		}
	}))}
	defer c.errors.Free()
	defer c.context.Free()
	if _, err := c.decode(); !errors.Is(err, io.EOF) {
		t.Errorf("after %d failures: %v", failures, err)
	}
}
