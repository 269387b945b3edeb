#!/usr/bin/env python3
"""Write scipy.json: B-spline interpolation as SciPy computes it.

The tests of warp/bspline compare themselves with it. Run it again with
    python3 scipy_golden.py > scipy.json
It needs SciPy (Debian's python3-scipy; the file was made with 1.10.1).

No side is shorter than 20 samples: SciPy's mode "reflect" does not interpolate
shorter signals. map_coordinates at the samples themselves is off by 1e-2 for
two samples and order 5, 2e-7 for nine, and by rounding alone from twenty on.
"""
import json

import numpy as np
from scipy import ndimage

# SciPy's names for the boundaries half, whole and periodic.
MODES = {"half": "reflect", "whole": "mirror", "periodic": "grid-wrap"}


def rounded(values):
    """A list to ten decimals: well below the tolerance of the tests."""
    return np.round(values, 10).ravel().tolist()


def main():
    rng = np.random.default_rng(20190802)
    images, cases = [], []
    # The long ones reach over several subregions of the prefilter.
    for height, width in [(21, 24), (20, 270), (270, 20)]:
        image = rng.integers(0, 256, (height, width)).astype(float)
        images.append({"width": width, "height": height, "samples": image.astype(int).ravel().tolist()})
        # Positions inside, and up to two samples outside.
        x = np.round(rng.uniform(-2, width + 1, 40), 3)
        y = np.round(rng.uniform(-2, height + 1, 40), 3)
        for order in range(2, 6):
            for boundary, mode in MODES.items():
                case = {
                    "image": len(images) - 1,
                    "order": order,
                    "boundary": boundary,
                    "x": x.tolist(),
                    "y": y.tolist(),
                    "values": rounded(ndimage.map_coordinates(image, [y, x], order=order, mode=mode)),
                }
                if len(images) == 1:
                    case["coefficients"] = rounded(ndimage.spline_filter(image, order=order, mode=mode))
                cases.append(case)
    print(json.dumps({"images": images, "cases": cases}, separators=(",", ":")).replace("},{", "},\n{"))


main()
