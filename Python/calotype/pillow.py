# SPDX-License-Identifier: Apache-2.0
"""A plugin for Pillow: formats that Pillow lacks, and drafts of JPEG files.

    import calotype.pillow
    calotype.pillow.register()
    PIL.Image.open("photo.jxl")
"""

from __future__ import annotations

from PIL import Image, ImageFile

import calotype

_HEIF_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"mif1", b"msf1")
_PIL_MODES = {(True, False): "L", (False, False): "RGB", (False, True): "RGBA", (True, True): "RGBA"}
# Before Pillow 10.1, the mode is an attribute of its own.
_MODE = "_mode" if isinstance(getattr(Image.Image, "mode", None), property) else "mode"


def _is_jpeg_xl(prefix: bytes) -> bool:
    return prefix.startswith((b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"))


def _is_heif(prefix: bytes) -> bool:
    return prefix[4:8] == b"ftyp" and prefix[8:12] in _HEIF_BRANDS


def _is_jpeg(prefix: bytes) -> bool:
    return prefix.startswith(b"\xff\xd8\xff")


_ACCEPTED = {"JXL": _is_jpeg_xl, "HEIF": _is_heif, "JPEG": _is_jpeg}
_EXTENSIONS = {"JXL": [".jxl"], "HEIF": [".heic", ".heif", ".hif"], "JPEG": [".jpg", ".jpeg"]}


class CalotypeImageFile(ImageFile.ImageFile):
    """An image that is decoded when it is loaded, at the size of the draft if there is one."""

    format = "CALOTYPE"
    format_description = "images that Calotype decodes"

    def _open(self) -> None:
        try:
            self._source = calotype.open_bytes(self.fp.read())
        except (calotype.UnknownFormatError, calotype.UnsupportedError) as error:
            raise SyntaxError(str(error)) from error
        except calotype.CalotypeError as error:
            raise OSError(str(error)) from error
        self._size = self._source.size
        setattr(self, _MODE, _PIL_MODES[self._source.is_gray, self._source.has_alpha])
        self.tile = []
        self._isDecoded = False
        for kind, key in (("exif", "exif"), ("icc", "icc_profile")):
            block = self._source.metadata(kind)
            if block:
                self.info[key] = b"Exif\0\0" + block if kind == "exif" else block

    def draft(self, mode, size):
        """Selects the smallest size of the same aspect ratio that is not smaller than `size`."""
        if self._isDecoded or not size:
            return None
        width, height = self.size
        scale = min(1, max(size[0] / width, size[1] / height))
        if scale == 1:
            return None
        self._size = max(1, round(width * scale)), max(1, round(height * scale))
        if mode in ("L", "RGB") and not self._source.has_alpha:
            setattr(self, _MODE, mode)
        return self.mode, (0, 0, *self._size)

    def load(self):
        if not self._isDecoded:
            self._isDecoded = True
            try:
                decoded = self._source.thumbnail(self.size, mode=self.mode, fit="exact").pil()
            except calotype.CalotypeError as error:
                raise OSError(str(error)) from error
            self.im = decoded.im
            del self._source
            # The result is upright and in sRGB.
            self.info.pop("icc_profile", None)
            if "exif" in self.info:
                exif = self.getexif()
                exif.pop(0x0112, None)
                self.info["exif"] = exif.tobytes()
        return super().load()


def register(formats=("JXL", "HEIF")) -> None:
    """Lets Pillow open formats with this package: of "JXL", "HEIF" and "JPEG".

    JPEG replaces the decoder of Pillow, also in Image.thumbnail, which then decodes at twice the size of the
    thumbnail instead of at a half, a quarter or an eighth of the size of the file.
    """
    Image.init()
    for name in formats:
        identifier = f"CALOTYPE-{name}"
        Image.register_open(identifier, _factory(name), _ACCEPTED[name])
        # The first entry that accepts the first bytes opens the file.
        Image.ID.remove(identifier)
        Image.ID.insert(0, identifier)
        for extension in _EXTENSIONS[name]:
            # Pillow selects the encoder by the extension too: those that it knows stay its own.
            Image.EXTENSION.setdefault(extension, identifier)


def _factory(name):
    return type(f"{name}ImageFile", (CalotypeImageFile,), {"format": name})
