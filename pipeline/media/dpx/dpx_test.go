package dpx

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"testing"
)

// file returns a header of a picture of 2x1 pixels and 10 bits, with two words of samples.
func file(order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}, length int) []byte {
	h := make([]byte, length)
	copy(h, map[bool]string{true: "SDPX", false: "XPDS"}[order.Uint16([]byte{0, 1}) == 1])
	set := func(at int, v uint32) { copy(h[at:], order.AppendUint32(nil, v)) }
	set(dataAt, uint32(length))
	copy(h[elementsAt:], order.AppendUint16(nil, 1))
	set(widthAt, 2)
	set(heightAt, 1)
	h[descriptorAt], h[bitsAt] = 50, 10
	copy(h[packingAt:], order.AppendUint16(nil, 1))
	return append(h, order.AppendUint32(order.AppendUint32(nil, 0x01020304), 0x05060708)...)
}

// Samples get the model's order and header, and what is of another size or format is left alone.
func TestGraft(t *testing.T) {
	encoded := file(binary.LittleEndian, image)
	for _, model := range [][]byte{file(binary.BigEndian, whole+7), file(binary.LittleEndian, whole), file(binary.BigEndian, image)} {
		model[900] = 77
		got, ok := Graft(encoded, model, big.NewRat(24, 1))
		want := bytes.Clone(model)
		h, _ := parse(model)
		h.order.PutUint32(want[elementAt:], h.long(dataAt))
		h.order.PutUint32(want[sizeAt:], uint32(len(want)))
		if !ok || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, or another file", model[:4], ok)
		}
	}
	for at, what := range map[int]string{0: "another format", widthAt: "another width", bitsAt: "other bits", descriptorAt: "other channels", elementsAt: "several elements", dataAt: "no samples"} {
		model := file(binary.BigEndian, whole)
		model[at] ^= 64
		if _, ok := Graft(encoded, model, nil); ok {
			t.Error(what)
		}
	}
}

// Files may be anything.
func FuzzGraft(f *testing.F) {
	f.Add(file(binary.LittleEndian, image), file(binary.BigEndian, whole))
	f.Add(file(binary.BigEndian, image), file(binary.BigEndian, image))
	f.Fuzz(func(t *testing.T, encoded, model []byte) {
		if got, ok := Graft(encoded, model, big.NewRat(25, 1)); ok {
			if _, ok := parse(got); !ok {
				t.Error("the file is none")
			}
		}
	})
}
