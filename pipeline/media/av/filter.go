package av

/*
#cgo pkg-config: libavfilter libavutil
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>

static AVFilterInOut *end_of(const char *name, AVFilterContext *filter, AVFilterInOut *next)
{
	AVFilterInOut *e = avfilter_inout_alloc();
	if (!e)
		return NULL;
	e->name = av_strdup(name);
	e->filter_ctx = filter;
	e->next = next;
	return e;
}

// Parses a description between the sources, which are called in0, in1 and so on, and the
// sink. It frees every filter of the graph if it fails.
static int connect_ends(AVFilterGraph *g, const char *description, AVFilterContext *const *sources, int n, AVFilterContext *sink)
{
	AVFilterInOut *in = NULL, *out = end_of("out", sink, NULL);
	int r = out ? 0 : AVERROR(ENOMEM);
	while (r >= 0 && n-- > 0) {
		char *name = av_asprintf("in%d", n);
		AVFilterInOut *e = name ? end_of(name, sources[n], in) : NULL;
		av_free(name);
		if (e)
			in = e;
		else
			r = AVERROR(ENOMEM);
	}
	if (r >= 0)
		r = avfilter_graph_parse_ptr(g, description, &out, &in, NULL);
	avfilter_inout_free(&in);
	avfilter_inout_free(&out);
	return r < 0 ? r : avfilter_graph_config(g, NULL);
}
*/
import "C"

import (
	"fmt"

	"github.com/asticode/go-astiav"
)

// Graph is an AVFilterGraph with buffer sources and one buffersink. Call Free after use.
type Graph struct {
	graph   *C.AVFilterGraph
	sources []*C.AVFilterContext
	sink    *C.AVFilterContext
}

// NewGraph returns a graph without sources (avfilter_graph_alloc). threads is the number
// of threads; 0 means one per processor.
func NewGraph(threads int) *Graph {
	g := &Graph{graph: C.avfilter_graph_alloc()}
	if g.graph != nil {
		g.graph.nb_threads = C.int(threads)
	}
	return g
}

// add adds a filter called name (avfilter_graph_create_filter).
func (g *Graph) add(filter, name, options string) (c *C.AVFilterContext, err error) {
	if g.graph == nil {
		return nil, astiav.Error(-C.ENOMEM)
	}
	f := withString(filter, func(n *C.char) *C.AVFilter { return C.avfilter_get_by_name(n) })
	err = status(withString(name, func(n *C.char) C.int {
		return withString(options, func(o *C.char) C.int {
			return C.avfilter_graph_create_filter(&c, f, n, o, nil, g.graph)
		})
	}))
	return c, err
}

// AddSource adds a source with options in FFmpeg's syntax, such as
// "width=16:height=16:pix_fmt=gray:time_base=1/25". Sources are numbered from 0.
func (g *Graph) AddSource(options string) error {
	c, err := g.add("buffer", fmt.Sprintf("in%d", len(g.sources)), options)
	if err == nil {
		g.sources = append(g.sources, c)
	}
	return err
}

// Configure adds the sink, and between it and the sources the filters of a description,
// whose inputs are labelled [in0], [in1], ... and whose output is [out]
// (avfilter_graph_parse_ptr, avfilter_graph_config).
func (g *Graph) Configure(description string) (err error) {
	if g.sink, err = g.add("buffersink", "out", ""); err != nil {
		return err
	}
	return status(withString(description, func(d *C.char) C.int {
		return C.connect_ends(g.graph, d, &g.sources[0], C.int(len(g.sources)), g.sink)
	}))
}

// Send passes the content of f to a source; f is empty afterwards
// (av_buffersrc_add_frame). A nil f says that no more frames follow.
func (g *Graph) Send(source int, f *astiav.Frame) error {
	var p *C.AVFrame
	if f != nil {
		p = raw(f)
	}
	return status(C.av_buffersrc_add_frame_flags(g.sources[source], p, 0))
}

// Receive moves the sink's next frame into f (av_buffersink_get_frame).
func (g *Graph) Receive(f *astiav.Frame) error {
	return status(C.av_buffersink_get_frame(g.sink, raw(f)))
}

// Format returns the pixel format of the frames that the sink delivers
// (av_buffersink_get_format).
func (g *Graph) Format() astiav.PixelFormat {
	return astiav.PixelFormat(C.av_buffersink_get_format(g.sink))
}

// TimeBase returns the unit of the sink's timestamps in seconds
// (av_buffersink_get_time_base).
func (g *Graph) TimeBase() astiav.Rational {
	tb := C.av_buffersink_get_time_base(g.sink)
	return astiav.NewRational(int(tb.num), int(tb.den))
}

// Free frees the graph with all its filters (avfilter_graph_free). Frames that Receive has
// delivered stay valid.
func (g *Graph) Free() {
	C.avfilter_graph_free(&g.graph)
	g.sources, g.sink = nil, nil
}
