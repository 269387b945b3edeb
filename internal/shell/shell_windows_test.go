package shell

var processes = []struct{ name, line, out, says string }{
	{"gets variables", `echo %NAME%`, "a value\r\n", ""},
	{"fails", "echo first>&2& echo last>&2& exit 3", "", "it ended in the test (exit status 3): last"},
	{"quotes", `cd "." && echo "a b"`, "\"a b\"\r\n", ""},
}

// waiting is a line that waits, as does what it starts; silent is set if they write nothing meanwhile.
const (
	waiting = "cmd /c pause & pause"
	silent  = false
)
