# SPDX-License-Identifier: Apache-2.0
"""Decodes, reduces and encodes images.

    array = numpy.asarray(calotype.open("photo.jpg").thumbnail((400, 400)))

Images share their memory with NumPy, PyTorch and every other consumer of the buffer protocol or of DLPack.
All functions release the global interpreter lock while they decode.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _native
from ._errors import (
    CalotypeError, CancelledError, DamagedFileError, FileAccessError, InvalidArgumentError, LibraryError,
    LimitExceededError, TruncatedFileError, UnknownFormatError, UnsupportedError)

if TYPE_CHECKING:
    import PIL.Image

__all__ = [
    "CalotypeError", "CancelledError", "DamagedFileError", "FileAccessError", "Image", "InvalidArgumentError",
    "LibraryError", "LimitExceededError", "Limits", "Source", "TruncatedFileError", "UnknownFormatError",
    "UnsupportedError", "batch", "open", "open_bytes"]

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Mode = Literal["L", "RGB", "RGBA", "L;16", "RGB;16", "RGBA;16"]
Fit = Literal["fit", "fill", "exact"]

# The mode of planes, which are no image of one shape.
_PLANES = "planes"
_FITS = {"fit": 0, "fill": 1, "exact": 2}
_MODES = {None: 0, "L": 1, "RGB": 2, "RGBA": 3, "L;16": 4, "RGB;16": 5, "RGBA;16": 6, _PLANES: 8}
_METADATA = {"exif": 1, "xmp": 2, "iptc": 3, "icc": 4}
_PIL_MODES = {1: "L", 3: "RGB", 4: "RGBa"}


@dataclass(frozen=True)
class Limits:
    """Bounds on the resources of one file, checked on its header; 0 selects the default."""

    pixel_count: int = 0
    side: int = 0
    file_byte_count: int = 0
    memory_byte_count: int = 0


class Image(_native.Image):
    """A decoded image, whose memory is read-only.

    It supports the buffer protocol, the array interface of NumPy and DLPack, all without a copy. Colours are
    multiplied by alpha.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int

    @property
    def width(self) -> int:
        """The width in pixels."""
        return self.shape[1]

    @property
    def height(self) -> int:
        """The height in pixels."""
        return self.shape[0]

    @property
    def size(self) -> tuple[int, int]:
        """The width and the height in pixels."""
        return self.shape[1], self.shape[0]

    def __dlpack__(
        self, *, stream: None = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> Any:
        """Returns a capsule of DLPack: version 1 if the consumer supports it."""
        if stream is not None or copy or dl_device not in (None, (1, 0)):
            raise BufferError("images are in the memory of the processor and are not copied")
        return self._dlpack(max_version is not None and max_version[0] >= 1)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device: the processor."""
        return 1, 0

    def pil(self) -> PIL.Image.Image:
        """Returns a Pillow image of mode L, RGB or RGBA; 16 bits are supported in grey only."""
        import PIL.Image

        channels = self.shape[2] if len(self.shape) == 3 else 1
        is_deep = self.strides[-1] == 2
        if is_deep and channels > 1:
            raise UnsupportedError("Pillow has no colour images of 16 bits: decode the mode RGB or RGBA")
        mode = "I;16" if is_deep else _PIL_MODES[channels]
        array = self.__array_interface__
        length = (self.height - 1) * self.strides[0] + self.width * self.strides[1]
        rows = _padded_rows(self, array["data"][0], length)
        try:
            image = PIL.Image.frombytes(mode, self.size, rows, "raw", mode, self.strides[0])
        except TypeError:  # Pillow 9 reads no views.
            image = PIL.Image.frombytes(mode, self.size, bytes(rows), "raw", mode, self.strides[0])
        return image.convert("RGBA") if mode == "RGBa" else image

    def encode(self, format: str, *, quality: int = 0, lossless: bool = False) -> bytes:
        """Returns a file in a format, such as "jpeg"; 0 selects the default quality."""
        return self._encode(format, quality, lossless)


def _padded_rows(image: Image, address: int, length: int) -> memoryview:
    """Returns the memory from the first to the last sample as bytes, with the padding between rows."""
    import ctypes

    return memoryview((ctypes.c_ubyte * length).from_address(address))


class Source(_native.Source):
    """An opened file, whose pixels are not decoded.

    Attributes: width, height, orientation, bits_per_sample, has_alpha, is_gray, frame_count, page_count and
    format, as in the header of the file; sizes are those of the upright image.
    """

    width: int
    height: int
    orientation: int
    bits_per_sample: int
    has_alpha: bool
    is_gray: bool
    frame_count: int
    page_count: int
    format: str

    def __getattr__(self, name: str) -> Any:
        # Read when the first attribute is needed: most sources are opened for their pixels.
        if name.startswith("_"):
            raise AttributeError(name)
        self.__dict__.update(self._header())
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}") from None

    @property
    def size(self) -> tuple[int, int]:
        """The width and the height of the upright image."""
        return self.width, self.height

    def decode(self, mode: Mode | None = None, *, page: int = 0, accept_truncated: bool = True) -> Image:
        """Decodes the image at its own size; the mode of the file if none is given."""
        return self.thumbnail((0, 0), mode=mode, page=page, accept_truncated=accept_truncated)

    def thumbnail(
        self, size: tuple[int, int], *, mode: Mode | None = None, fit: Fit = "fit", enlarge: bool = False,
        fast: bool = False, half_chroma: bool = False, embedded: bool = False, page: int = 0,
        accept_truncated: bool = True, region: tuple[int, int, int, int] | None = None,
    ) -> Image:
        """Decodes the image at a size.

        - size: the width and the height of the box.
        - fit: "fit" the whole image in the box, "fill" it and crop the excess, or make it "exact".
        - enlarge: whether the result may be larger than the image.
        - fast: whether precision is traded for speed.
        - half_chroma: whether colours have half the resolution of the result, as in most JPEG files, which saves
          time.
        - embedded: whether the thumbnail in the file may replace the image.
        - accept_truncated: whether missing pixels of a truncated file are grey, black or transparent; it is an error
          otherwise.
        - region: the part that is decoded: left, top, width and height in pixels of the upright image.
        """
        return self._decode(Image, _options(
            size, mode, fit, enlarge, fast, half_chroma, embedded, page, accept_truncated, region))

    def planes(
        self, size: tuple[int, int] = (0, 0), *, fit: Fit = "fit", enlarge: bool = False, fast: bool = False,
        page: int = 0, accept_truncated: bool = True, region: tuple[int, int, int, int] | None = None,
    ) -> tuple[Image, Image, Image]:
        """Decodes the image as planes of luma, Cb and Cr in full range, by the matrix of JFIF.

        Both sides of the chroma planes are half as long as those of luma, rounded up. The planes share one piece of
        memory. Reduced JPEG files keep luma and chroma apart; others are converted from RGB. Alpha is dropped. The
        parameters are those of thumbnail.
        """
        return self._planes(Image, _options(
            size, _PLANES, fit, enlarge, fast, False, False, page, accept_truncated, region))

    def encode_thumbnail(
        self, size: tuple[int, int], format: str = "jpeg", *, quality: int = 0, lossless: bool = False,
        fit: Fit = "fit", enlarge: bool = False,
    ) -> bytes:
        """Decodes the image at a size and returns it as a file."""
        options = _options(size, None, fit, enlarge, False, False, False, 0, True, None)
        return self._encode(options, format, quality, lossless)

    def metadata(self, kind: Literal["exif", "xmp", "iptc", "icc"]) -> bytes | None:
        """Returns a block of metadata; None if the file lacks it."""
        return self._metadata(_METADATA[kind])


def _options(size, mode, fit, enlarge, fast, half_chroma, embedded, page, accept_truncated, region):
    width, height = size
    flags = (
        (1 if enlarge else 0) | (4 if fast else 0) | (0 if accept_truncated else 16) | (32 if embedded else 0)
        | (64 if half_chroma else 0))
    return (width, height, _FITS[fit], _MODES[mode], flags, page, *(region or (0, 0, 0, 0)))


def open(file: Path | int | Any, *, limits: Limits = Limits()) -> Source:
    """Opens a file and reads its header.

    - file: a path, a descriptor, or an open binary file, which is read to its end.
    - limits: bounds on the resources of the file.
    """
    bounds = (limits.pixel_count, limits.side, limits.file_byte_count, limits.memory_byte_count)
    if isinstance(file, int):
        return Source(None, file, None, *bounds)
    if hasattr(file, "read"):
        return Source(None, -1, file.read(), *bounds)
    return Source(file, -1, None, *bounds)


def open_bytes(data: Any, *, limits: Limits = Limits()) -> Source:
    """Opens the bytes of a file: any object with the buffer protocol, which is copied."""
    return Source(
        None, -1, data, limits.pixel_count, limits.side, limits.file_byte_count, limits.memory_byte_count)


def batch(
    paths: Iterable[Path], size: tuple[int, int], workers: int | None = None, *, limits: Limits = Limits(),
    errors: Literal["raise", "return"] = "raise", **options: Any,
) -> Iterator[Image | CalotypeError]:
    """Decodes files at a size on several threads, and yields the images in the order of the paths.

    At most two images for each worker exist at a time, in addition to those that the caller keeps.

    - workers: the number of threads; that of the processors by default.
    - errors: whether an error is raised, which ends the iteration, or yielded instead of an image.
    - options: those of Source.thumbnail.
    """
    count = workers or len(os.sched_getaffinity(0))

    def load(path: Path) -> Image:
        return open(path, limits=limits).thumbnail(size, **options)

    def result(future: Future[Image]) -> Image | CalotypeError:
        try:
            return future.result()
        except CalotypeError as error:
            if errors == "raise":
                raise
            return error

    waiting: deque[Future[Image]] = deque()
    with ThreadPoolExecutor(count, "calotype") as pool:
        try:
            for path in paths:
                waiting.append(pool.submit(load, path))
                if len(waiting) >= 2 * count:
                    yield result(waiting.popleft())
            while waiting:
                yield result(waiting.popleft())
        finally:
            for future in waiting:
                future.cancel()
