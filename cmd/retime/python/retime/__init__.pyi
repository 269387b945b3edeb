from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from os import PathLike
from typing import Any, NamedTuple

from numpy import ndarray

program: str

class Error(Exception):
    code: int

class Picture(NamedTuple):
    array: ndarray
    time: float
    kind: str
    confidence: float

def flags(options: dict[str, Any]) -> list[str]: ...
def convert(
    input: str | PathLike[str], output: str | PathLike[str], progress: Callable[[int, int], object] | None = None, **options: Any
) -> None: ...
def frames(input: str | PathLike[str], **options: Any) -> Iterator[ndarray]: ...
def write(pictures: Iterable[ndarray], output: str | PathLike[str], in_fps: float | str, **options: Any) -> None: ...
def interpolate(
    frames: Iterable[ndarray],
    rate_in: float | str | Fraction,
    rate_out: float | str | Fraction | None = None,
    slow: float | str | Fraction | None = None,
    preset: str = "balanced",
    mode: str = "project",
    scene_threshold: float | None = None,
    blend_below: float | None = None,
    nearest_below: float | None = None,
    overlays: bool = True,
    duplicates: str | None = None,
    threads: int = 0,
    device: str = "cpu",
    tune: str = "footage",
) -> Iterator[Picture]: ...
def main() -> None: ...
