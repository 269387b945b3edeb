// Command man prints libretime.3, the man page of libretime.h: man HEADER VERSION
package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"

	"retime/cmd/internal/roff"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "man HEADER VERSION")
		os.Exit(2)
	}
	header, err := os.ReadFile(os.Args[1])
	if err == nil {
		var page []byte
		if page, err = write(string(header), os.Args[2]); err == nil {
			_, err = os.Stdout.Write(page)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// declaration is what the header declares in one place, and the comment before it.
type declaration struct {
	comment string
	lines   []string
}

// is reports whether the declaration begins with a word.
func (d declaration) is(word string) bool { return strings.HasPrefix(d.lines[0], word) }

var (
	trailing = regexp.MustCompile(`^(.*?)\s*/\*\s*(.*?)\s*\*/$`)
	constant = regexp.MustCompile(`RETIME_\w+`)
)

// read returns the header's first comment, and what it declares. Blank lines part declarations; those
// without a comment are the compiler's business.
func read(header string) (about string, list []declaration) {
	about, rest, _ := strings.Cut(header, "*/\n")
	about = comment(about)
	_, rest, _ = strings.Cut(rest, `extern "C" {`)
	for block := range strings.SplitSeq(rest, "\n\n") {
		var d declaration
		block = strings.Trim(block, "\n")
		if strings.HasPrefix(block, "/*") {
			d.comment, block, _ = strings.Cut(block, "*/\n")
			d.comment = comment(d.comment)
		}
		d.lines = strings.Split(block, "\n")
		opened := len(list) > 0 && !strings.HasPrefix(list[len(list)-1].last(), "}") && list[len(list)-1].is("typedef struct") &&
			strings.HasSuffix(list[len(list)-1].lines[0], "{")
		switch {
		case opened: // a blank line within a structure
			last := &list[len(list)-1]
			last.lines = append(last.lines, "")
			last.lines = append(last.lines, d.lines...)
		case d.comment != "" && !d.is("#ifndef"), d.is("typedef"):
			list = append(list, d)
		}
	}
	return about, list
}

func (d declaration) last() string { return d.lines[len(d.lines)-1] }

// comment returns the text of a comment whose end is cut off.
func comment(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "*/"), "\n")
	for i, l := range lines {
		l = strings.TrimSpace(l)
		lines[i] = strings.TrimSpace(strings.TrimLeft(l, "/*"))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// write returns the page of a header. A function, a field or a value that the header does not explain is
// an error.
func write(header, version string) ([]byte, error) {
	about, list := read(header)
	var constants, structures, functions, synopsis bytes.Buffer
	for _, d := range list {
		switch {
		case d.is("#define"), d.is("enum"):
			paragraph(&constants, d.comment)
			if err := values(&constants, d.lines); err != nil {
				return nil, err
			}
		case d.is("typedef struct") && strings.HasSuffix(d.lines[0], "{"):
			fmt.Fprintf(&structures, ".SS %s\n", strings.TrimSuffix(strings.TrimPrefix(d.lines[0], "typedef struct "), " {"))
			if d.comment != "" {
				paragraph(&structures, d.comment)
			}
			if err := fields(&structures, d.lines[1:len(d.lines)-1]); err != nil {
				return nil, err
			}
		case d.is("typedef"):
			if err := fields(&structures, d.lines); err != nil {
				return nil, err
			}
		default:
			prototype := strings.ReplaceAll(strings.Join(d.lines, "\n"), "\n\t", "\n    ")
			if !strings.HasSuffix(prototype, ");") {
				return nil, fmt.Errorf("not a function: %s", prototype)
			}
			fmt.Fprintf(&synopsis, "%s\n", roff.Escape(prototype))
			fmt.Fprintf(&functions, ".PP\n.nf\n.ft B\n%s\n.ft R\n.fi\n.RS\n%s\n.RE\n", roff.Escape(prototype), roff.Escape(d.comment))
		}
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, ".TH LIBRETIME 3 \"\" \"libretime %s\" \"Library Functions Manual\"\n.ad l\n", roff.Escape(version))
	page.WriteString(".SH NAME\nlibretime \\- pictures between the pictures of a video\n")
	fmt.Fprintf(&page, ".SH SYNOPSIS\n.nf\n#include <libretime.h>\n\n%s\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs libretime)\n.fi\n", &synopsis)
	page.WriteString(".SH DESCRIPTION\n")
	for i, p := range strings.Split(about, "\n\n") {
		if i > 0 {
			page.WriteString(".PP\n")
		}
		fmt.Fprintf(&page, "%s\n", roff.Escape(p))
	}
	fmt.Fprintf(&page, ".SH FUNCTIONS\n%s.SH STRUCTURES\n%s.SH CONSTANTS\n%s.SH SEE ALSO\n.BR retime (1)\n", &functions, &structures, &constants)
	return page.Bytes(), nil
}

func paragraph(b *bytes.Buffer, text string) { fmt.Fprintf(b, ".PP\n%s\n", roff.Escape(text)) }

func item(b *bytes.Buffer, name, text string) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff.Escape(name), roff.Escape(text))
}

// values lists the constants of an enum or a macro, each with its comment, or all of them if the comment
// before them says enough.
func values(b *bytes.Buffer, lines []string) error {
	explained := false
	for _, l := range lines {
		name := constant.FindString(l)
		m := trailing.FindStringSubmatch(l)
		switch {
		case name == "":
		case m != nil:
			explained = true
			item(b, name, m[2])
		case explained:
			return fmt.Errorf("%s has no comment", name)
		default:
			fmt.Fprintf(b, ".br\n.B %s\n", roff.Escape(strings.Join(constant.FindAllString(l, -1), ", ")))
		}
	}
	return nil
}

// fields lists the fields of a structure. A comment stands behind its field, or before several.
func fields(b *bytes.Buffer, lines []string) error {
	var before string // a comment that goes before fields
	var under []string
	flush := func() {
		if before != "" {
			item(b, strings.Join(under, " "), comment(before))
		}
		before, under = "", nil
	}
	open := false // within such a comment
	for _, l := range lines {
		l = strings.TrimSpace(l)
		m := trailing.FindStringSubmatch(l)
		switch {
		case open || strings.HasPrefix(l, "/*"):
			before += l + "\n"
			open = !strings.HasSuffix(l, "*/")
		case l == "":
			flush()
		case m != nil:
			flush()
			item(b, m[1], m[2])
		case before != "":
			under = append(under, l)
		default:
			return fmt.Errorf("%s has no comment", l)
		}
	}
	flush()
	return nil
}
