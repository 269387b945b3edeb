// Command site makes a static site of the README and the documents: site ROOT OUT. It fails if a link
// leads nowhere.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed style.css
var style []byte

//go:embed page.html
var layout string

var pageTemplate = template.Must(template.New("page").Parse(layout))

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site ROOT OUT")
		os.Exit(2)
	}
	if err := build(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// page is a document of the site.
type page struct {
	Source string // its name in the repository, such as docs/time.md
	Name   string // its name in the site, such as time.html
	Title  string
	About  string // what the index says of it
	Body   template.HTML
	source []byte
	ids    map[string]bool
	links  []string // names in the site that it links to, with their anchors
}

// group is a part of the index.
type group struct {
	Title string
	Pages []*page
}

// site is what is made of the repository at root.
type site struct {
	root   string
	groups []group
	pages  []*page           // in order
	of     map[string]*page  // by source
	files  map[string]string // other files to copy: the name in the repository by that in the site
}

func build(root, out string) error {
	s := &site{root: root, of: map[string]*page{}, files: map[string]string{}}
	if err := s.readIndex(); err != nil {
		return err
	}
	for _, p := range s.pages {
		if err := s.read(p); err != nil {
			return err
		}
	}
	for _, p := range s.pages {
		if err := s.render(p); err != nil {
			return fmt.Errorf("%s: %w", p.Source, err)
		}
	}
	if err := s.check(); err != nil {
		return err
	}
	return s.write(out)
}

var (
	indexGroup = regexp.MustCompile(`^\*\*(.+)\*\*$`)
	indexEntry = regexp.MustCompile(`^- \[[^]]+\]\(([^)]+)\): (.+)$`)
)

// readIndex reads the order of the documents from docs/README.md.
func (s *site) readIndex() error {
	index, err := os.ReadFile(filepath.Join(s.root, "docs/README.md"))
	if err != nil {
		return err
	}
	s.groups = []group{{Title: "Start"}}
	s.add("README.md", "index.html", "what retime is, and the first steps")
	for _, line := range strings.Split(string(index), "\n") {
		if m := indexGroup.FindStringSubmatch(line); m != nil {
			s.groups = append(s.groups, group{Title: m[1]})
		} else if m := indexEntry.FindStringSubmatch(line); m != nil {
			s.add(path.Join("docs", m[1]), strings.TrimSuffix(path.Base(m[1]), ".md")+".html", m[2])
		}
	}
	s.groups = append(s.groups, group{Title: "The project"})
	s.add("docs/README.md", "documents.html", "the index of the documents")
	for _, name := range []string{"CONTRIBUTING", "CHANGELOG", "SECURITY"} {
		s.add(name+".md", strings.ToLower(name)+".html", "")
	}
	if s.of["docs/security.md"] != nil { // both are called security.html
		s.of["SECURITY.md"].Name = "reporting.html"
	}
	return nil
}

func (s *site) add(source, name, about string) {
	p := &page{Source: source, Name: name, About: about, ids: map[string]bool{}}
	last := &s.groups[len(s.groups)-1]
	last.Pages = append(last.Pages, p)
	s.pages = append(s.pages, p)
	s.of[source] = p
}

// read reads a page and its title, the first line.
func (s *site) read(p *page) (err error) {
	if p.source, err = os.ReadFile(filepath.Join(s.root, p.Source)); err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(p.source), "\n")
	title, found := strings.CutPrefix(first, "# ")
	if !found {
		return fmt.Errorf("%s does not begin with a title", p.Source)
	}
	p.Title = title
	return nil
}

// anchors gives headings the anchors that GitHub gives them.
type anchors struct{ p *page }

var dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(string(value)), ""), " ", "-")
	for n, base := 1, id; a.p.ids[id]; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	a.p.ids[id] = true
	return []byte(id)
}

func (a anchors) Put(value []byte) { a.p.ids[string(value)] = true }

// render makes p's HTML, with links to the site's own names.
func (s *site) render(p *page) error {
	source := p.source
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	doc := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{p}))))
	var unwanted []ast.Node
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Link:
			s.retitle(p, n, source)
			if n.Destination, err = s.place(p, n.Destination); n.Destination == nil {
				unwanted = append(unwanted, n)
			}
		case *ast.Image:
			n.Destination, err = s.place(p, n.Destination)
		case *ast.HTMLBlock: // why a test does not run a command
			unwanted = append(unwanted, n)
		}
		return ast.WalkContinue, err
	})
	if err != nil {
		return err
	}
	for _, n := range unwanted {
		for child := n.FirstChild(); child != nil; child = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, child)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, source, doc); err != nil {
		return err
	}
	html := strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>", "<pre>", `<pre tabindex="0">`).Replace(b.String())
	p.Body = template.HTML(html) //nolint:gosec // goldmark has escaped it
	return nil
}

// retitle gives a link whose text is a document's file name the document's title.
func (s *site) retitle(p *page, n *ast.Link, source []byte) {
	file, _, _ := strings.Cut(string(n.Destination), "#")
	name, isText := n.FirstChild().(*ast.Text)
	to := s.of[path.Join(path.Dir(p.Source), file)]
	if to == nil || !isText || path.Base(string(name.Value(source))) != path.Base(to.Source) {
		return
	}
	n.RemoveChildren(n)
	n.AppendChild(n, ast.NewString([]byte(to.Title)))
}

// place returns what a link of p is in the site, nil for a directory of the repository. It has other
// files copied.
func (s *site) place(p *page, target []byte) ([]byte, error) {
	link := string(target)
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return target, nil
	}
	file, anchor, found := strings.Cut(link, "#")
	if found {
		anchor = "#" + anchor
	}
	name := p.Source
	if file != "" {
		name = path.Join(path.Dir(p.Source), file)
	}
	if to := s.of[name]; to != nil {
		p.links = append(p.links, to.Name+anchor)
		return []byte(to.Name + anchor), nil
	}
	info, err := os.Stat(filepath.Join(s.root, name))
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, nil
	}
	to := strings.TrimPrefix(name, "docs/")
	s.files[to] = name
	return []byte(to), nil
}

// check returns an error that names the links to anchors that are not there.
func (s *site) check() error {
	ids := map[string]map[string]bool{}
	for _, p := range s.pages {
		ids[p.Name] = p.ids
	}
	var wrong []error
	for _, p := range s.pages {
		for _, link := range p.links {
			if name, anchor, found := strings.Cut(link, "#"); found && !ids[name][anchor] {
				wrong = append(wrong, fmt.Errorf("%s links to %s, which is not there", p.Source, link))
			}
		}
	}
	return errors.Join(wrong...)
}

// write writes the site to a directory that it empties first.
func (s *site) write(out string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	files := map[string][]byte{"style.css": style}
	for to, name := range s.files {
		data, err := os.ReadFile(filepath.Join(s.root, name))
		if err != nil {
			return err
		}
		files[to] = data
	}
	for i, p := range s.pages {
		var b bytes.Buffer
		view := struct {
			*page
			Groups         []group
			Before, Behind *page
		}{page: p, Groups: s.groups}
		if i > 0 {
			view.Before = s.pages[i-1]
		}
		if i+1 < len(s.pages) {
			view.Behind = s.pages[i+1]
		}
		if err := pageTemplate.Execute(&b, view); err != nil {
			return err
		}
		files[p.Name] = b.Bytes()
	}
	for name, data := range files {
		name = filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil { //nolint:gosec // a page
			return err
		}
	}
	return nil
}
