"""Time SciPy and OpenCV on the positions of retime-bench boxspline --peers.

python3 - SIZE POINTS REPEAT, this program on the standard input. Prints a line for each
method: nanoseconds for a value on one thread, and the method. Libraries that are not
installed are left out.
"""
import sys
import time

import numpy as np


def turned(dim, limit, n):
    i = np.arange(n)
    side = int(limit / 1.5)
    u, v = i % side - limit / 3, i // side % side - limit / 3
    sin, cos = np.sin(np.pi / 6), np.cos(np.pi / 6)
    x, y = limit / 2 + cos * u + sin * v, limit / 2 - sin * u + cos * v
    z = (i // side // side * 0.9 + 0.01 * u + limit / 2) % limit
    return (x, y, z)[:dim]


def best(n, repeat, f):
    least = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        f()
        least = min(least, time.perf_counter() - start)
    return least / n * 1e9


def main():
    size, points, repeat = (int(a) for a in sys.argv[1:4])
    rng = np.random.default_rng(1)
    plane, volume = rng.random((size, size)), rng.random((64, 64, 64))
    try:
        from scipy import __version__, ndimage

        for order in (1, 2, 3):
            x, y = turned(2, size - 1, points)
            ns = best(points, repeat, lambda: ndimage.map_coordinates(plane, [y, x], order=order, prefilter=False, mode="mirror"))
            print(f"{ns:.1f} SciPy {__version__}, picture, order {order}, float64")
            x, y, z = turned(3, 63, points)
            ns = best(points, repeat, lambda: ndimage.map_coordinates(volume, [z, y, x], order=order, prefilter=False, mode="mirror"))
            print(f"{ns:.1f} SciPy {__version__}, volume, order {order}, float64")
    except ImportError:
        pass
    try:
        import cv2

        cv2.setNumThreads(1)
        width = 1000
        x, y = (a[: points // width * width].reshape(-1, width).astype(np.float32) for a in turned(2, size - 1, points))
        image = plane.astype(np.float32)
        for name, how in (("linear", cv2.INTER_LINEAR), ("cubic convolution", cv2.INTER_CUBIC)):
            ns = best(x.size, repeat, lambda: cv2.remap(image, x, y, how, borderMode=cv2.BORDER_REFLECT_101))
            print(f"{ns:.1f} OpenCV {cv2.__version__}, picture, {name}, float32, fractions of 5 bits")
    except ImportError:
        pass


main()
