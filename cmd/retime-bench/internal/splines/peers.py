"""Turn a picture ten times by 36 degrees with SciPy and OpenCV.

Run by study.Peers: python3 - WIDTH HEIGHT RIM FILE, this program on the
standard input, FILE with little-endian float32 samples. Prints a JSON list of
{"Method", "Seconds", "PSNR"}; libraries that are not installed are left out.
"""
import json
import sys
import time

import numpy as np

TURNS = 10


def main():
    width, height, rim = (int(a) for a in sys.argv[1:4])
    image = np.fromfile(sys.argv[4], "<f4").reshape(height, width)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    cx, cy = (width - 1) / 2, (height - 1) / 2
    inside = np.hypot(x - cx, y - cy) <= max(1, min(cx, cy) - rim)
    # The inverse map, as in retime.
    cos, sin = np.cos(2 * np.pi / TURNS), np.sin(2 * np.pi / TURNS)
    from_x = (cos * (x - cx) + sin * (y - cy) + cx).astype(np.float32)
    from_y = (-sin * (x - cx) + cos * (y - cy) + cy).astype(np.float32)

    def measure(method, turn):
        result = image
        start = time.perf_counter()
        for _ in range(TURNS):
            result = turn(result)
        seconds = time.perf_counter() - start
        error = np.mean((result[inside].astype(float) - image[inside]) ** 2)
        return {"Method": method, "Seconds": seconds, "PSNR": 10 * np.log10(255**2 / error)}

    results = []
    try:
        from scipy import __version__, ndimage

        for order in (3, 5):
            results.append(measure(
                f"SciPy {__version__}, map_coordinates, order {order}",
                lambda m: ndimage.map_coordinates(m, [from_y, from_x], order=order, mode="reflect"),
            ))
    except ImportError:
        pass
    try:
        import cv2

        cv2.setNumThreads(0)
        for threads in (1, cv2.getNumberOfCPUs()):
            cv2.setNumThreads(threads)
            results.append(measure(
                f"OpenCV {cv2.__version__}, remap, cubic, {threads} threads",
                lambda m: cv2.remap(m, from_x, from_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT),
            ))
    except ImportError:
        pass
    json.dump(results, sys.stdout)


main()
