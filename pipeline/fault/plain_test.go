package fault

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	_, missing := os.Stat("nothing here")
	var v struct {
		N int `json:"n"`
	}
	long := bufio.NewScanner(strings.NewReader(strings.Repeat("x", bufio.MaxScanTokenSize+1)))
	for long.Scan() {
		t.Fatal("the line is not too long")
	}
	other := errors.New("other")
	for _, c := range []struct {
		err  error
		want string
	}{
		{missing, "no such file or directory"},
		{json.Unmarshal([]byte(`{"n": "a"}`), &v), `"n" cannot be a string`},
		{json.Unmarshal([]byte(`5`), &v), "want a JSON object, not a number"},
		{long.Err(), "a line is longer than 65536 bytes"},
		{other, "other"},
	} {
		if got := Plain(c.err); got.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.err, got, c.want)
		}
	}
	if !errors.Is(Plain(missing), fs.ErrNotExist) {
		t.Error("a missing file is not known as missing any more")
	}
}
