"""Tests the Python package where it is installed: test.py CLIP converts CLIP."""

import os
import signal
import subprocess
import sys
import tempfile
import warnings

import numpy

import retime

clip = sys.argv[1]
directory = tempfile.mkdtemp()
path = lambda name: os.path.join(directory, name)

seen = []
retime.convert(clip, path("out.mp4"), progress=lambda frames, total: seen.append((frames, total)), fps=48, to=0.25, vopt={"threads": 1})
assert os.path.getsize(path("out.mp4")) > 0
assert seen and seen[-1][0] == 12 and seen[-1][1] == 12, seen

try:
    retime.convert(path("nothing.mp4"), path("no.mp4"))
except retime.Error as e:
    assert e.code == 66 and "nothing.mp4" in str(e), (e.code, str(e))
else:
    raise AssertionError("a file that is not there was converted")

try:
    retime.convert(clip, path("stopped.mp4"), progress=lambda frames, total: 1 / 0, fps=48)
except ZeroDivisionError:
    pass
else:
    raise AssertionError("an exception of progress was lost")
assert sorted(os.listdir(directory)) == ["out.mp4"], os.listdir(directory)

# The terminal's interrupt reaches the interpreter and all that it has started, also if what runs
# this test ignores interrupts.
code = "import retime, sys; retime.convert(sys.argv[1], sys.argv[2], progress=lambda *_: print(flush=True), fps=48)"
run = subprocess.Popen([sys.executable, "-c", code, clip, path("interrupted.mp4")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
run.stdout.readline()
os.killpg(run.pid, signal.SIGINT)
said = run.communicate()[1]
assert b"KeyboardInterrupt" in said, said
assert sorted(os.listdir(directory)) == ["out.mp4"], os.listdir(directory)

made = list(retime.frames(clip, fps=48, to=0.25, preset="fast"))
assert len(made) == 12 and made[0].shape == (360, 640, 3) and made[0].dtype == numpy.uint8, (len(made), made[0].shape, made[0].dtype)
deep = list(retime.frames(clip, to=0.1, pix_fmt="rgb48be"))
assert deep[0].dtype == numpy.uint16 and abs(int(deep[0].mean()) - 257 * int(made[0].mean())) < 514
try:
    list(retime.frames(path("nothing.mp4")))
except retime.Error as e:
    assert e.code == 66
else:
    raise AssertionError("a file that is not there has frames")

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    retime.convert(clip, path("few.gif"), to=0.1, overwrite=False)
assert any("256 colours" in str(w.message) for w in caught), [str(w.message) for w in caught]
try:
    retime.convert(clip, path("unknown.mp4"), no_such_flag=False)
except retime.Error as e:
    assert "no-such-flag" in str(e), str(e)
else:
    raise AssertionError("an unknown option was taken")

retime.write(made[::2], path("again.nut"), in_fps=24, fps=48, vcodec="rawvideo", preset="fast")
again = list(retime.frames(path("again.nut")))
assert len(again) >= 11, len(again)
assert all((a == b).all() for a, b in zip(again[::2], made[::2])), "source frames came back changed"
try:
    retime.write([numpy.zeros((4, 4), numpy.uint8)], path("grey.mp4"), in_fps=24)
except ValueError:
    pass
else:
    raise AssertionError("a grey picture was taken")
try:
    retime.write([made[0], made[0][:90]], path("two.mp4"), in_fps=24)
except ValueError:
    pass
else:
    raise AssertionError("pictures of two sizes were taken")
print("the Python package works")
