"""Frame rate conversion and slow motion by optical flow.

    import retime
    retime.convert("in.mp4", "out.mp4", fps=60)

convert takes the flags of the program as arguments: retime --help lists them.
frames and write pass pictures as numpy arrays. All of them run the program that the
package brings along. interpolate has arrays on both sides and runs no program: it calls
the C library, which the package brings along, too.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import warnings

from ._library import Picture, interpolate

__all__ = ["Error", "Picture", "convert", "frames", "interpolate", "write", "main", "program"]

#: The program; the environment's RETIME names another one.
program = os.environ.get("RETIME") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "program", "retime")


class Error(Exception):
    """A run that failed. code is the program's exit code, see retime --help; the
    message is what it said."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def _command(*arguments):
    """Returns the command that runs the program and keeps the terminal's interrupts from
    it: retime is told to end once, and the second time would not clean up."""
    return ["/bin/sh", "-c", 'trap "" INT; exec "$0" "$@"', program, *arguments]


def flags(options):
    """Returns the options as flags: fps=60 is --fps 60, overwrite=True is --overwrite,
    verify=False is --verify=false, from_=1 is --from 1, vopt={"tune": "film"} is --vopt
    tune=film, a list repeats its flag, and None leaves it out."""
    out = []
    for key, value in options.items():
        name = "--" + key.rstrip("_").replace("_", "-")
        if isinstance(value, dict):
            value = ["%s=%s" % pair for pair in value.items()]
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(v, bool):
                out.append(name if v else name + "=false")
            elif v is not None:
                out += [name, str(v)]
    return out


def convert(input, output, progress=None, **options):
    """Converts the file input to the file output, with the flags in options.

    progress is called with the number of frames written and the number wanted, 0 if it
    is unknown. An exception of it ends the run, and so does KeyboardInterrupt; what was
    written is removed then. What the program warns of becomes warnings. Raises Error if the
    program fails."""
    command = _command(os.fspath(input), "-o", os.fspath(output), "--progress", "json", *flags(options))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    said = []
    try:
        for line in process.stderr:
            if line.startswith("{"):
                at = json.loads(line)
                if "warning" in at:
                    said.append("retime: warning: " + _text(at))
                elif progress is not None and "total" in at:  # the last line says how the run ended
                    progress(at["frames"], at["total"])
            else:
                said.append(line.rstrip("\n"))
    except BaseException:
        process.terminate()
        for line in process.stderr:
            pass  # the program may still write while it removes its file
        raise
    finally:
        process.stderr.close()
        process.wait()
    _check(process.returncode, said)


def _text(warning):
    details = ", ".join("%s %s" % d for d in warning.get("details", {}).items())
    return warning["warning"] + (" (%s)" % details if details else "")


def _check(code, said):
    for line in said:
        if line.startswith("retime: warning: "):
            warnings.warn(line[len("retime: warning: "):], stacklevel=3)
    if code != 0:
        problems = [line[len("retime: "):] for line in said if line.startswith("retime: ") and not line.startswith("retime: warning")]
        raise Error(code, "\n".join(problems) or "\n".join(said) or "retime ended with %d" % code)


def frames(input, **options):
    """Yields the frames that the conversion of the file input makes, as numpy arrays of
    height, width and red, green and blue, in 8 bits; or in 16 with pix_fmt="rgb48be".
    The flags in options say how. Raises Error if the program fails."""
    options = {"pix_fmt": "rgb24", **options}
    command = _command(os.fspath(input), "-o", "-", "-f", "image2pipe", "--vcodec", "ppm", "-q", "--no-warn", *flags(options))
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said)
        try:
            while (picture := _read(process.stdout)) is not None:
                yield picture
            process.wait()
        finally:
            process.stdout.close()
            if process.poll() is None:
                process.terminate()
                process.wait()
        said.seek(0)
        _check(process.returncode, said.read().splitlines())


def _read(stream):
    """Reads a binary PPM picture; None at the end."""
    import numpy

    header = []
    while len(header) < 4:
        line = stream.readline()
        if not line:
            return None
        header += line.split(b"#")[0].split()
    width, height, most = map(int, header[1:4])
    kind = numpy.dtype(numpy.uint8 if most < 256 else ">u2")
    data = stream.read(width * height * 3 * kind.itemsize)
    picture = numpy.frombuffer(data, kind).reshape(height, width, 3)
    return picture if most < 256 else picture.astype(numpy.uint16)


def write(pictures, output, in_fps, **options):
    """Converts pictures, an iterable of numpy arrays of height, width and red, green and
    blue, in uint8 or uint16, shown at in_fps frames per second, to the file output, with
    the flags in options. The pictures have one size and one type. What the program warns of
    becomes warnings. Raises Error if the program fails."""
    import numpy

    command = _command("-", "--input-format", "ppm_pipe", "--in-fps", str(in_fps), "-o", os.fspath(output), "-q", *flags(options))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=False)
    said = []
    reader = threading.Thread(target=lambda: said.extend(process.stderr.read().decode(errors="replace").splitlines()))
    reader.start()
    first = None
    try:
        for picture in pictures:
            p = numpy.asarray(picture)
            if p.ndim != 3 or p.shape[2] != 3 or p.dtype not in (numpy.uint8, numpy.uint16):
                raise ValueError("want pictures of height, width and 3 colours in uint8 or uint16, got %s of %s" % (p.shape, p.dtype))
            first = p if first is None else first
            if p.shape != first.shape or p.dtype != first.dtype:
                raise ValueError("want pictures like the first, %s of %s, got %s of %s" % (first.shape, first.dtype, p.shape, p.dtype))
            process.stdin.write(b"P6\n%d %d\n%d\n" % (p.shape[1], p.shape[0], 255 if p.dtype == numpy.uint8 else 65535))
            process.stdin.write(p.tobytes() if p.dtype == numpy.uint8 else p.astype(">u2").tobytes())
        process.stdin.close()
    except BrokenPipeError:
        pass  # the program has failed and says why
    except BaseException:
        process.terminate()
        raise
    finally:
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.wait()
        reader.join()
        process.stderr.close()
    _check(process.returncode, said)


def main():
    """Runs the program with the arguments of the command line."""
    os.execv(program, [program] + sys.argv[1:])
