"""libretime by ctypes: interpolate and what it needs."""

import ctypes
import os
from collections import namedtuple
from fractions import Fraction

#: The C library; the environment's RETIME_LIBRARY names another one.
library = os.environ.get("RETIME_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "libretime.so.0")

_VERSION = 1
_NONE, _END, _MEMORY, _INTERNAL = 1, 2, -2, -3
_KINDS = ("as shot", "made", "blended", "held", "cut")
_PRESETS = ("balanced", "fast", "best")
_MODES = ("project", "splat", "blend", "nearest")
_TUNES = ("footage", "animation")
_DEVICES = ("cpu", "auto", "cuda")


class _Options(ctypes.Structure):
    _fields_ = (
        [("version", ctypes.c_uint)]
        + [(n, ctypes.c_int) for n in ("width", "height", "depth", "planes", "chroma_x", "chroma_y", "rgb", "transfer", "full_range")]
        + [(n, ctypes.c_int64) for n in ("rate_num", "rate_den", "out_num", "out_den", "slow_num", "slow_den")]
        + [("times", ctypes.POINTER(ctypes.c_int64))]
        + [(n, ctypes.c_int64) for n in ("times_count", "time_num", "time_den")]
        + [(n, ctypes.c_int) for n in ("preset", "mode", "tune")]
        + [(n, ctypes.c_double) for n in ("scene_threshold", "blend_below", "nearest_below")]
        + [(n, ctypes.c_int) for n in ("carry_overlays", "drop_repeats", "threads", "device")]
    )


class _Planes(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("planes", ctypes.c_void_p * 4), ("stride", ctypes.c_ssize_t * 4)]


class _Info(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint), ("kind", ctypes.c_int), ("number", ctypes.c_int64), ("sources", ctypes.c_int64 * 2),
        ("phase", ctypes.c_double), ("confidence", ctypes.c_double),
    ]


class Picture(namedtuple("Picture", "array time kind confidence")):
    """A frame: its samples, its time in seconds after the first, what it is ("as shot", "made",
    "blended", "held" or "cut"), and the confidence in it from 0 to 1."""

    __slots__ = ()


_loaded = None


def _load():
    global _loaded
    if _loaded is None:
        lib = ctypes.CDLL(library)
        lib.retime_stream_open.restype = ctypes.c_void_p
        text = [ctypes.c_char_p, ctypes.c_size_t]
        for name, arguments in {
            "options_default": [ctypes.POINTER(_Options)],
            "stream_open": [ctypes.POINTER(_Options), *text],
            "stream_push": [ctypes.c_void_p, ctypes.POINTER(_Planes), *text],
            "stream_pull": [ctypes.c_void_p, ctypes.POINTER(_Planes), ctypes.POINTER(_Info), *text],
            "stream_finish": [ctypes.c_void_p],
            "stream_close": [ctypes.c_void_p],
        }.items():
            getattr(lib, "retime_" + name).argtypes = arguments
        _loaded = lib
    return _loaded


def _choose(name, value, choices):
    if value not in choices:
        raise ValueError("%s %r: choose from %s" % (name, value, ", ".join(choices)))
    return choices.index(value)


def _rate(name, value):
    """Returns a rate as a fraction."""
    rate = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    if rate <= 0:
        raise ValueError("%s %s: want a number above 0" % (name, value))
    return rate


def _fail(code, error):
    kinds = {_MEMORY: MemoryError, _INTERNAL: RuntimeError}
    raise kinds.get(code, ValueError)(error.value.decode(errors="replace"))


def interpolate(frames, rate_in, rate_out=None, slow=None, preset="balanced", mode="project", scene_threshold=None,
                blend_below=None, nearest_below=None, overlays=True, duplicates=None, threads=0, device="cpu", tune="footage"):
    """Yields a Picture for each frame that the program would make of frames, with the same samples.

    frames is an iterable of numpy arrays of one shape and type: height and width, or these and 3
    (red, green, blue) or 4 colours (with alpha), in uint8, uint16, or floats from 0 to 1, which are
    made in 16 bits. They are shown at rate_in frames per second. rate_out is the rate of the result,
    by default rate_in, and slow makes it that many times longer. Rates are numbers, fractions or
    strings such as "24000/1001". The other arguments mean what the program's flags mean;
    overlays=False leaves out the search for things that lie still over a moving picture, tune is
    "footage" or "animation", and device is "cpu", "cuda" or "auto", where the library was built with
    kernels. Frames are read as they are needed, and may be changed once the next one is asked for.

    Raises ValueError for arguments that make no sense, MemoryError and RuntimeError. Threads may run
    an interpolation each; a process that fork has made must not run one."""
    import numpy

    lib, error = _load(), ctypes.create_string_buffer(512)
    options = _Options()
    lib.retime_options_default(ctypes.byref(options))
    rate, out = _rate("rate_in", rate_in), _rate("rate_out", rate_in if rate_out is None else rate_out)
    options.rate_num, options.rate_den = rate.as_integer_ratio()
    options.out_num, options.out_den = out.as_integer_ratio()
    if slow is not None:
        options.slow_num, options.slow_den = _rate("slow", slow).as_integer_ratio()
    options.preset, options.mode = _choose("preset", preset, _PRESETS), _choose("mode", mode, _MODES)
    options.tune = _choose("tune", tune, _TUNES)
    options.drop_repeats = _choose("duplicates", duplicates or ("keep", "retime")[options.tune], ("keep", "retime"))
    options.carry_overlays, options.threads = int(not overlays), threads
    options.device = _choose("device", device, _DEVICES)
    for name, value in (("scene_threshold", scene_threshold), ("blend_below", blend_below), ("nearest_below", nearest_below)):
        if value is not None:
            if value < 0:
                raise ValueError("%s %s: want a number from 0 on" % (name, value))
            setattr(options, name, value)
    return _frames(numpy, lib, error, options, frames, out)


def _frames(numpy, lib, error, options, frames, out):
    stream, shape, kind, made = None, None, None, None

    def described(planes):
        p = _Planes(_VERSION)
        for i, plane in enumerate(planes):
            p.planes[i], p.stride[i] = plane.ctypes.data, plane.strides[0]
        return p

    def pull():
        info = _Info(_VERSION)
        into = described(made)
        while True:
            code = lib.retime_stream_pull(stream, ctypes.byref(into), ctypes.byref(info), error, len(error))
            if code in (_NONE, _END):
                return
            if code != 0:
                _fail(code, error)
            yield Picture(_array(numpy, made, shape, kind), float(info.number / out), _KINDS[info.kind], info.confidence)

    try:
        for frame in frames:
            frame = numpy.asarray(frame)
            if stream is None:
                shape, kind = frame.shape, frame.dtype
                if frame.ndim not in (2, 3) or frame.ndim == 3 and shape[2] not in (1, 3, 4) or not (kind in (numpy.uint8, numpy.uint16) or kind.kind == "f"):
                    raise ValueError("want frames of height, width and 1, 3 or 4 colours in uint8, uint16 or floats, got %s of %s" % (shape, kind))
                colours = 1 if frame.ndim == 2 else shape[2]
                options.height, options.width, options.planes = shape[0], shape[1], colours
                options.depth, options.rgb = 8 if kind == numpy.uint8 else 16, int(colours > 1)
                made = [numpy.empty(shape[:2], numpy.uint8 if kind == numpy.uint8 else numpy.uint16) for _ in range(colours)]
                stream = lib.retime_stream_open(ctypes.byref(options), error, len(error))
                if not stream:
                    _fail(0, error)
            if frame.shape != shape or frame.dtype != kind:
                raise ValueError("want frames like the first, %s of %s, got %s of %s" % (shape, kind, frame.shape, frame.dtype))
            planes = _planes(numpy, frame)
            code = lib.retime_stream_push(stream, ctypes.byref(described(planes)), error, len(error))
            if code == _END:
                break
            if code != 0:
                _fail(code, error)
            yield from pull()
        if stream is not None:
            lib.retime_stream_finish(stream)
            yield from pull()
    finally:
        if stream is not None:
            lib.retime_stream_close(stream)


#: Green, blue and red come first in the library, in this order.
_ORDER = (1, 2, 0, 3)


def _planes(numpy, frame):
    if frame.dtype.kind == "f":
        frame = (numpy.clip(frame, 0, 1) * 65535 + 0.5).astype(numpy.uint16)
    if frame.ndim == 2:
        return [numpy.ascontiguousarray(frame)]
    colours = frame.shape[2]
    return [numpy.ascontiguousarray(frame[:, :, _ORDER[i] if colours > 1 else 0]) for i in range(colours)]


def _array(numpy, planes, shape, kind):
    if len(shape) == 2:
        array = planes[0].copy()
    else:
        array = numpy.empty(shape, planes[0].dtype)
        for i, plane in enumerate(planes):
            array[:, :, _ORDER[i] if len(planes) > 1 else 0] = plane
    return array if kind.kind != "f" else (array / numpy.float64(65535)).astype(kind)
