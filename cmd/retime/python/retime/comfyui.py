"""A node for ComfyUI: a file custom_nodes/retime.py with the line

    from retime.comfyui import NODE_CLASS_MAPPINGS, NODE_DISPLAY_NAME_MAPPINGS

adds "Retime" under image/animation: it makes the pictures between those of a batch."""

import numpy

from . import interpolate


class Retime:
    """Changes the rate of a batch of images by optical flow."""

    CATEGORY = "image/animation"
    RETURN_TYPES = ("IMAGE", "FLOAT")
    RETURN_NAMES = ("images", "fps")
    FUNCTION = "run"

    @classmethod
    def INPUT_TYPES(cls):
        rate = {"min": 0.1, "max": 1000.0, "step": 0.001}
        return {
            "required": {
                "images": ("IMAGE",),
                "fps_in": ("FLOAT", {"default": 16.0, **rate}),
                "fps_out": ("FLOAT", {"default": 60.0, **rate}),
                "slow": ("FLOAT", {"default": 1.0, "min": 0.1, "max": 100.0, "step": 0.1}),
                "preset": (["balanced", "fast", "best"],),
                "duplicates": (["keep", "retime"],),
            }
        }

    def run(self, images, fps_in, fps_out, slow, preset, duplicates):
        """images has batch, height, width and colours, in floats from 0 to 1."""
        tensor = hasattr(images, "cpu")  # PyTorch's; else a numpy array
        pictures = images.cpu().numpy() if tensor else images
        made = interpolate(pictures, fps_in, fps_out, slow=slow, preset=preset, duplicates=duplicates)
        out = numpy.stack([p.array for p in made])
        if tensor:
            import torch

            out = torch.from_numpy(out)
        return out, fps_out


NODE_CLASS_MAPPINGS = {"Retime": Retime}
NODE_DISPLAY_NAME_MAPPINGS = {"Retime": "Retime (frame rate, slow motion)"}
