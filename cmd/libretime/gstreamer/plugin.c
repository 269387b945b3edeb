/*
 * The GStreamer element of libretime, retime: frames at another rate, or slow motion. docs/embedding.md
 * describes it; make gstreamer builds it.
 */
#include <gst/gst.h>
#include <gst/video/video.h>
#include <libretime.h>

#define FORMATS "{ I420, Y42B, Y444, GRAY8, I420_10LE, I422_10LE, Y444_10LE, I420_12LE, I422_12LE, Y444_12LE, GBR, GBR_10LE, GBR_12LE }"

typedef struct Retime {
	GstElement element;
	GstPad *sink, *src;
	GstVideoInfo in, out;
	retime_stream *stream;
	GstClockTime begin; /* time of the first picture */
	guint64 pulled;
	int num, den, slow_num, slow_den; /* properties */
	char *preset, *tune;
} Retime;

typedef struct RetimeClass {
	GstElementClass parent;
} RetimeClass;

enum { FPS = 1, SLOW, PRESET, TUNE };

static GType retime_get_type(void);
G_DEFINE_TYPE(Retime, retime, GST_TYPE_ELEMENT)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(FORMATS)));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(FORMATS)));

static GstFlowReturn fail(Retime *r, const char *why)
{
	GST_ELEMENT_ERROR(r, STREAM, FAILED, ("retime: %s", why), (NULL));
	return GST_FLOW_ERROR;
}

/* Describes the planes of a frame; RGB comes as green, blue, red. */
static retime_picture planes(const GstVideoFrame *f)
{
	retime_picture p = {.version = RETIME_API_VERSION};
	gboolean rgb = GST_VIDEO_INFO_IS_RGB(&f->info);
	guint i;
	for (i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS(f); i++) {
		guint c = rgb ? (i + 1) % 3 : i; /* components are red, green, blue */
		p.planes[i] = GST_VIDEO_FRAME_COMP_DATA(f, c);
		p.stride[i] = GST_VIDEO_FRAME_COMP_STRIDE(f, c);
	}
	return p;
}

/* Returns the place of a word in a list, or -1. */
static int place(const char *word, const char *const *list, int n)
{
	while (--n >= 0 && g_strcmp0(list[n], word) != 0)
		;
	return n;
}

/* Opens a stream for the pictures that caps describe, and tells the element after this one of its frames. */
static gboolean set_caps(Retime *r, GstCaps *caps)
{
	static const char *const presets[] = {"balanced", "fast", "best"}, *const tunes[] = {"footage", "animation"};
	const GstVideoFormatInfo *format;
	retime_options o;
	char error[256];
	GstCaps *to;
	gboolean ok;
	if (r->stream != NULL) {
		fail(r, "the pictures' format changes");
		return FALSE;
	}
	if (!gst_video_info_from_caps(&r->in, caps) || r->in.fps_n <= 0 || r->in.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE) {
		fail(r, "want progressive video of a constant rate");
		return FALSE;
	}
	format = r->in.finfo;
	retime_options_default(&o);
	o.width = r->in.width;
	o.height = r->in.height;
	o.depth = GST_VIDEO_FORMAT_INFO_DEPTH(format, 0);
	o.planes = GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format);
	o.rgb = GST_VIDEO_FORMAT_INFO_IS_RGB(format);
	if (o.planes > 1) {
		o.chroma_x = GST_VIDEO_FORMAT_INFO_W_SUB(format, 1);
		o.chroma_y = GST_VIDEO_FORMAT_INFO_H_SUB(format, 1);
	}
	o.transfer = r->in.colorimetry.transfer == GST_VIDEO_TRANSFER_SMPTE2084 ? RETIME_PQ : r->in.colorimetry.transfer == GST_VIDEO_TRANSFER_ARIB_STD_B67 ? RETIME_HLG : RETIME_SDR;
	o.full_range = r->in.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
	o.rate_num = r->in.fps_n;
	o.rate_den = r->in.fps_d;
	o.out_num = r->num > 0 ? r->num : r->in.fps_n;
	o.out_den = r->num > 0 ? r->den : r->in.fps_d;
	o.slow_num = r->slow_num;
	o.slow_den = r->slow_den;
	o.preset = place(r->preset, presets, G_N_ELEMENTS(presets));
	o.tune = o.drop_repeats = place(r->tune, tunes, G_N_ELEMENTS(tunes));
	if (o.preset < 0 || o.tune < 0) {
		fail(r, o.preset < 0 ? "preset is balanced, fast or best" : "tune is footage or animation");
		return FALSE;
	}
	if ((r->stream = retime_stream_open(&o, error, sizeof error)) == NULL) {
		fail(r, error);
		return FALSE;
	}
	r->begin = GST_CLOCK_TIME_NONE;
	r->pulled = 0;
	r->out = r->in;
	r->out.fps_n = (int)o.out_num;
	r->out.fps_d = (int)o.out_den;
	to = gst_video_info_to_caps(&r->out);
	ok = gst_pad_push_event(r->src, gst_event_new_caps(to));
	gst_caps_unref(to);
	return ok;
}

/* Sends the frames that are ready; after the last picture, all. */
static GstFlowReturn pull(Retime *r)
{
	for (;;) {
		GstBuffer *b = gst_buffer_new_allocate(NULL, r->out.size, NULL);
		GstVideoFrame f;
		retime_picture to;
		char error[256];
		GstFlowReturn sent;
		int code;
		if (!gst_video_frame_map(&f, &r->out, b, GST_MAP_WRITE)) {
			gst_buffer_unref(b);
			return fail(r, "cannot write to a buffer");
		}
		to = planes(&f);
		code = retime_stream_pull(r->stream, &to, NULL, error, sizeof error);
		gst_video_frame_unmap(&f);
		if (code != RETIME_OK) {
			gst_buffer_unref(b);
			return code == RETIME_NONE || code == RETIME_END ? GST_FLOW_OK : fail(r, error);
		}
		GST_BUFFER_PTS(b) = r->begin + gst_util_uint64_scale(r->pulled, GST_SECOND * r->out.fps_d, r->out.fps_n);
		r->pulled++;
		GST_BUFFER_DURATION(b) = r->begin + gst_util_uint64_scale(r->pulled, GST_SECOND * r->out.fps_d, r->out.fps_n) - GST_BUFFER_PTS(b);
		if ((sent = gst_pad_push(r->src, b)) != GST_FLOW_OK)
			return sent;
	}
}

static GstFlowReturn chain(GstPad *pad, GstObject *parent, GstBuffer *b)
{
	Retime *r = (Retime *)parent;
	GstVideoFrame f;
	retime_picture from;
	char error[256];
	int code;
	(void)pad;
	if (r->stream == NULL || !gst_video_frame_map(&f, &r->in, b, GST_MAP_READ)) {
		gst_buffer_unref(b);
		return GST_FLOW_NOT_NEGOTIATED;
	}
	if (r->begin == GST_CLOCK_TIME_NONE)
		r->begin = GST_BUFFER_PTS_IS_VALID(b) ? GST_BUFFER_PTS(b) : 0;
	from = planes(&f);
	code = retime_stream_push(r->stream, &from, error, sizeof error);
	gst_video_frame_unmap(&f);
	gst_buffer_unref(b);
	return code == RETIME_END ? GST_FLOW_EOS : code < 0 ? fail(r, error) : pull(r);
}

static void close_stream(Retime *r)
{
	retime_stream_close(r->stream);
	r->stream = NULL;
}

static gboolean event(GstPad *pad, GstObject *parent, GstEvent *e)
{
	Retime *r = (Retime *)parent;
	gboolean ok;
	GstCaps *caps;
	GstSegment segment;
	switch (GST_EVENT_TYPE(e)) {
	case GST_EVENT_CAPS:
		gst_event_parse_caps(e, &caps);
		ok = set_caps(r, caps);
		gst_event_unref(e);
		return ok;
	case GST_EVENT_EOS:
		if (r->stream != NULL) {
			retime_stream_finish(r->stream);
			pull(r);
		}
		break;
	case GST_EVENT_SEGMENT: /* slow motion lasts longer */
		gst_event_copy_segment(e, &segment);
		gst_event_unref(e);
		segment.stop = GST_CLOCK_TIME_NONE;
		return gst_pad_push_event(r->src, gst_event_new_segment(&segment));
	case GST_EVENT_FLUSH_STOP:
		fail(r, "it cannot seek; begin again");
		break;
	default:
		break;
	}
	return gst_pad_event_default(pad, parent, e);
}

/* Rates differ on the two sides; all else that the caps say is the same. */
static gboolean query(GstPad *pad, GstObject *parent, GstQuery *q)
{
	Retime *r = (Retime *)parent;
	GstCaps *filter, *caps, *ours;
	guint i;
	if (GST_QUERY_TYPE(q) != GST_QUERY_CAPS)
		return gst_pad_query_default(pad, parent, q);
	gst_query_parse_caps(q, &filter);
	caps = gst_pad_peer_query_caps(pad == r->sink ? r->src : r->sink, NULL);
	caps = gst_caps_make_writable(caps);
	for (i = 0; i < gst_caps_get_size(caps); i++)
		gst_structure_set(gst_caps_get_structure(caps, i), "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);
	ours = gst_pad_get_pad_template_caps(pad);
	gst_caps_take(&caps, gst_caps_intersect(caps, ours));
	gst_caps_unref(ours);
	if (filter != NULL)
		gst_caps_take(&caps, gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST));
	gst_query_set_caps_result(q, caps);
	gst_caps_unref(caps);
	return TRUE;
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange change)
{
	GstStateChangeReturn done = GST_ELEMENT_CLASS(retime_parent_class)->change_state(element, change);
	if (change == GST_STATE_CHANGE_PAUSED_TO_READY)
		close_stream((Retime *)element);
	return done;
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
	Retime *r = (Retime *)object;
	switch (id) {
	case FPS:
		r->num = gst_value_get_fraction_numerator(value);
		r->den = gst_value_get_fraction_denominator(value);
		break;
	case SLOW:
		r->slow_num = gst_value_get_fraction_numerator(value);
		r->slow_den = gst_value_get_fraction_denominator(value);
		break;
	case PRESET:
		g_free(r->preset);
		r->preset = g_value_dup_string(value);
		break;
	case TUNE:
		g_free(r->tune);
		r->tune = g_value_dup_string(value);
		break;
	default:
		G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
	}
}

static void finalize(GObject *object)
{
	close_stream((Retime *)object);
	g_free(((Retime *)object)->preset);
	g_free(((Retime *)object)->tune);
	G_OBJECT_CLASS(retime_parent_class)->finalize(object);
}

static void retime_class_init(RetimeClass *class)
{
	GObjectClass *object = G_OBJECT_CLASS(class);
	GstElementClass *element = GST_ELEMENT_CLASS(class);
	GParamFlags flags = G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS;
	object->set_property = set_property;
	object->finalize = finalize;
	element->change_state = change_state;
	g_object_class_install_property(object, FPS, gst_param_spec_fraction("fps", "fps", "frames per second; 0 for the pictures' rate", 0, 1, G_MAXINT, 1, 0, 1, flags));
	g_object_class_install_property(object, SLOW, gst_param_spec_fraction("slow", "slow", "how many times longer it lasts", 1, 1000, 1000, 1, 1, 1, flags));
	g_object_class_install_property(object, PRESET, g_param_spec_string("preset", "preset", "balanced, fast or best", "balanced", flags));
	g_object_class_install_property(object, TUNE, g_param_spec_string("tune", "tune", "footage or animation, whose repeats are retimed, and of which nothing is cross-faded", "footage", flags));
	gst_element_class_add_static_pad_template(element, &sink_template);
	gst_element_class_add_static_pad_template(element, &src_template);
	gst_element_class_set_static_metadata(element, "retime", "Filter/Effect/Video", "Pictures between pictures, by optical flow", "retime");
}

static void retime_init(Retime *r)
{
	r->sink = gst_pad_new_from_static_template(&sink_template, "sink");
	r->src = gst_pad_new_from_static_template(&src_template, "src");
	gst_pad_set_chain_function(r->sink, chain);
	gst_pad_set_event_function(r->sink, event);
	gst_pad_set_query_function(r->sink, query);
	gst_pad_set_query_function(r->src, query);
	gst_element_add_pad(&r->element, r->sink);
	gst_element_add_pad(&r->element, r->src);
	r->den = r->slow_num = r->slow_den = 1;
	r->preset = g_strdup("balanced");
	r->tune = g_strdup("footage");
}

static gboolean plugin_init(GstPlugin *plugin) { return gst_element_register(plugin, "retime", GST_RANK_NONE, retime_get_type()); }

#define PACKAGE "retime"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, retime, "Pictures between pictures, by optical flow", plugin_init, VERSION, "MIT/X11", "retime", "retime")
