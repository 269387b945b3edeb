"""Tests the plugin where its wheel and BestSource are installed: test.py RETIME DEMO compares the
frames that vspipe writes with those of the program RETIME, for conversions of the clip DEMO. It
takes a sample of the conversions, one of each format; ALL=1 in the environment takes all."""

import hashlib
import itertools
import os
import random
import subprocess
import sys
import tempfile

import vapoursynth as vs

retime, demo = sys.argv[1:]
directory = tempfile.mkdtemp()
core = vs.core
core.num_threads = 3
PICTURES = 12

FORMATS = ["yuv420p", "yuv422p", "yuv444p", "gbrp", "yuv420p10le", "yuv422p10le", "yuv444p10le", "gbrp10le",
           "yuv420p16le", "yuv422p16le", "yuv444p16le", "gbrp16le"]
RATES = [("24", (48, 1), "2x"), ("24", (60, 1), "2.5x"), ("24000/1001", (60, 1), "60")]


def source(pixels, rate):
    """Makes a clip with a cut, and returns its name."""
    name = os.path.join(directory, "%s-%s.mkv" % (pixels, rate.replace("/", "-")))
    if not os.path.exists(name):
        subprocess.run([
            "ffmpeg", "-v", "error", "-r", rate, "-i", demo, "-vf", "scale=158:90,negate=enable='gte(n,8)',format=" + pixels,
            "-frames:v", str(PICTURES), "-c:v", "ffv1", "-strict", "-2", name], check=True)
    return name


def script(name, rate, call):
    text = "import vapoursynth as vs\ncore = vs.core\nc = core.bs.VideoSource(%r, cachemode=0)\nc = core.std.AssumeFPS(c, fpsnum=%d, fpsden=%d)\n" % (
        name, *map(int, (rate + "/1").split("/")[:2]))
    path = os.path.join(directory, "script.vpy")
    with open(path, "w") as f:
        f.write(text + "core.retime.%s.set_output()\n" % call)
    return path


def digest(command):
    return hashlib.md5(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout).hexdigest()


def program(name, *flags):
    return digest([retime, name, "-o", "-", "-f", "rawvideo", "--vcodec", "rawvideo", "-q", "--no-warn", "--backend", "cpu", *flags])


vspipe = os.path.join(os.path.dirname(sys.executable), "vspipe")
everything = list(itertools.product(FORMATS, ["fast", "balanced", "best"], RATES))
chosen = everything
if not os.environ.get("ALL"):
    pick = random.Random(34)
    chosen = [pick.choice([c for c in everything if c[0] == f]) for f in FORMATS]
wrong = 0
for pixels, preset, (rate, (num, den), flag) in chosen:
    name = source(pixels, rate)
    want = program(name, "--fps", flag, "--preset", preset, "--pix-fmt", pixels)
    got = digest([vspipe, script(name, rate, "Fps(c, %d, %d, preset=%r)" % (num, den, preset)), "-"])
    if got != want:
        wrong += 1
        print("%s, %s, %s: %s, the program makes %s" % (pixels, preset, flag, got, want))
assert wrong == 0, "%d of %d conversions differ" % (wrong, len(chosen))

name = source("yuv420p", "24")
assert digest([vspipe, script(name, "24", "Slow(c, 4)"), "-"]) == program(name, "--slow", "4"), "slow motion differs"

# Nothing leads from one picture of noise to the next.
noise = os.path.join(directory, "noise.mkv")
subprocess.run(["ffmpeg", "-v", "error", "-i", name, "-vf", "noise=alls=90:allf=t:all_seed=1", "-c:v", "ffv1", noise], check=True)
tuned = program(noise, "--slow", "2", "--tune", "animation", "--duplicates", "keep")
assert digest([vspipe, script(noise, "24", "Slow(c, 2, tune='animation')"), "-"]) == tuned, "animation differs"
assert tuned != program(noise, "--slow", "2"), "animation is made as footage is"

# Whether samples are PQ is told by the first picture, which is not asked for before a frame is.
bright = os.path.join(directory, "pq.mkv")
subprocess.run(["ffmpeg", "-v", "error", "-i", name, "-color_trc", "smpte2084", "-c:v", "ffv1", bright], check=True)
asked = []


def first(n, f):
    asked.append(n)
    return f


clip = core.std.AssumeFPS(core.bs.VideoSource(bright, cachemode=0), fpsnum=24)
made = core.retime.Fps(core.std.ModifyFrame(clip, clip, first), 60)
assert asked == [], asked
made.get_frame(12)
assert 0 in asked
assert digest([vspipe, script(bright, "24", "Fps(c, 60)"), "-"]) == program(bright, "--fps", "60"), "PQ differs"
assert digest([vspipe, script(bright, "24", "Fps(core.std.SetFrameProps(c, _Transfer=1), 60)"), "-"]) != program(bright, "--fps", "60")

# Any order gives the same frames.
clip = core.std.AssumeFPS(core.bs.VideoSource(name, cachemode=0), fpsnum=24)
assert len(clip) == PICTURES, len(clip)
samples = lambda f: b"".join(bytes(f[p]) for p in range(f.format.num_planes))
forward = [samples(f) for f in core.retime.Fps(clip, 60).frames()]
again = core.retime.Fps(clip, 60)
order = list(range(len(forward)))
random.Random(1).shuffle(order)
for k in order:
    assert samples(again.get_frame(k)) == forward[k], "frame %d depends on the order" % k
at = core.retime.Interpolate(clip, [0, 0.4, 4.8, 11])
assert [samples(f) for f in at.frames()][::3] == [forward[0], samples(clip.get_frame(11))]

# Properties say what a frame is.
props = [f.props for f in again.frames()]
assert props[0]["RetimeKind"] == "as shot" and props[1]["RetimeKind"] == "made", props[1]
assert props[19]["RetimeKind"] == "cut" and props[19]["RetimeConfidence"] == 0, props[19]
assert (props[1]["_DurationNum"], props[1]["_DurationDen"]) == (1, 60)


def refused(make, *words):
    try:
        make()
    except vs.Error as e:
        assert all(w in str(e) for w in words), e
    else:
        raise AssertionError("not refused: %s" % (words,))


refused(lambda: core.retime.Fps(core.resize.Point(clip, format=vs.YUV444PS), 60), "integer")
refused(lambda: core.retime.Fps(core.std.BlankClip(clip, fpsnum=0, fpsden=1), 60), "constant rate")
refused(lambda: core.retime.Fps(clip, 60, preset="slow"), "preset")
refused(lambda: core.retime.Fps(clip, 0), "above 0")
refused(lambda: core.retime.Interpolate(clip, [99.0]), "outside")
refused(lambda: core.retime.Fps(core.std.SetFrameProps(clip, _Combed=1), 60).get_frame(1), "combed")
refused(lambda: core.retime.Fps(core.std.SetFrameProps(clip, _FieldBased=1), 60).get_frame(1), "interlaced")
print("%d conversions have the program's frames" % len(chosen))
