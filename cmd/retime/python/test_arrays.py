"""Tests the arrays of the Python package: test_arrays.py CLIP DOCUMENT compares the frames that
interpolate makes with the program's, and runs the examples of DOCUMENT."""

import re
import sys
from fractions import Fraction

import numpy

import retime
from retime import comfyui

clip, document = sys.argv[1:]
scaled = {"to": "0.4", "fps": 24}
shot = [numpy.ascontiguousarray(p[100:190, 200:358]) for p in retime.frames(clip, **scaled)]
shot[6:] = [255 - p for p in shot[6:]]  # a cut


def program(pictures, pixels, **options):
    """Returns what the program makes of pictures."""
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        name = os.path.join(directory, "in.nut")
        retime.write(pictures, name, in_fps=24, vcodec="rawvideo", pix_fmt=pixels, backend="cpu")
        return list(retime.frames(name, pix_fmt="rgb24" if pixels == "gbrp" else "rgb48be", backend="cpu", **options))


deep = [p.astype(numpy.uint16) * 257 for p in shot]
for pictures, pixels in ((shot, "gbrp"), (deep, "gbrp16le")):
    for preset, rate in (("fast", 60), ("balanced", 48)):
        want = program(pictures, pixels, fps=rate, preset=preset)
        for threads in (1, 2, 7):
            got = list(retime.interpolate(iter(pictures), 24, rate, preset=preset, threads=threads))
            assert len(got) == len(want), (len(got), len(want))
            for k, (g, w) in enumerate(zip(got, want)):
                assert g.array.dtype == w.dtype and numpy.array_equal(g.array, w), "%s, %s: frame %d differs" % (pixels, preset, k)
                assert g.time == k / rate
tuned, plain = ([p.array for p in retime.interpolate(shot, 24, 48, blend_below=1, tune=t)] for t in ("animation", "footage"))
assert numpy.array_equal(tuned, program(shot, "gbrp", fps=48, blend_below=1, tune="animation")), "animation differs"
assert not numpy.array_equal(tuned, plain), "animation is made as footage is"
kinds = [p.kind for p in retime.interpolate(shot, 24, 48)]
assert kinds[:2] == ["as shot", "made"] and kinds[11] == "cut" and kinds[-1] == "held", kinds

# Every shape comes back as it was, and the floats are the 16 bits.
grey = [p[:, :, 1] for p in shot[:3]]
assert [p.array.shape for p in retime.interpolate(grey, 24, 48)] == [grey[0].shape] * 6
alpha = [numpy.dstack([p, p[:, :, 0]]) for p in shot[:3]]
assert numpy.array_equal(next(retime.interpolate(alpha, 24, 48)).array, alpha[0])
floats = [p.astype(numpy.float32) / numpy.float32(65535) for p in deep[:4]]
for f, d in zip(retime.interpolate(floats, 24, "60000/1001"), retime.interpolate(deep[:4], 24, Fraction(60000, 1001))):
    assert f.array.dtype == numpy.float32 and numpy.array_equal(numpy.rint(f.array * 65535), d.array)

out, fps = comfyui.Retime().run(numpy.stack(floats), 24.0, 60.0, 1.0, "fast", "keep")
assert out.shape == (10,) + floats[0].shape and out.dtype == numpy.float32 and fps == 60.0, out.shape

assert list(retime.interpolate([], 24, 48)) == []
left = retime.interpolate(shot, 24, 48)
next(left)
left.close()  # in the midst of the work
for arguments in (
    {"rate_in": 0}, {"rate_in": 24, "preset": "slow"}, {"rate_in": 24, "scene_threshold": -1}, {"rate_in": 24, "threads": -1}, {"rate_in": 24, "device": "gpu"},
    {"rate_in": 24, "frames": [shot[0], shot[1][:5]]}, {"rate_in": 24, "frames": [shot[0].astype(numpy.int32)]},
):
    try:
        list(retime.interpolate(**{"frames": shot, **arguments}))
    except ValueError:
        pass
    else:
        raise AssertionError("not refused: %s" % arguments)

with open(document) as f:
    examples = re.findall(r"^```python\n(.*?)^```$", f.read(), re.MULTILINE | re.DOTALL)
assert len(examples) >= 4, len(examples)
for example in examples:
    exec(example, {"frames": shot, "numpy": numpy})
print("arrays: all well, %d examples" % len(examples))
