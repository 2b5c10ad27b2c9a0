# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the package; each class states who can act."""


class CalotypeError(Exception):
    """An image cannot be decoded or encoded; the message contains the file and the reason."""


class UnknownFormatError(CalotypeError):
    """The bytes are in no known format: the author of the file."""


class DamagedFileError(CalotypeError):
    """The file violates the rules of its format: the author of the file."""


class TruncatedFileError(DamagedFileError):
    """The file ends early: the caller, by passing all of it."""


class UnsupportedError(CalotypeError):
    """The file or the call needs a feature that this build lacks: the developers or the packager."""


class LimitExceededError(CalotypeError):
    """The file needs more than the limits allow: the caller, by raising the limit in the message."""


class CancelledError(CalotypeError):
    """The caller cancelled the work."""


class FileAccessError(CalotypeError, OSError):
    """The file cannot be read, or changed while it was read: its owner."""


class LibraryError(CalotypeError):
    """An image library is missing or failed: the operator."""


class InvalidArgumentError(CalotypeError, ValueError):
    """An argument is invalid: the developer of the calling program."""


BY_STATUS = {
    1: InvalidArgumentError,
    2: UnknownFormatError,
    3: DamagedFileError,
    4: TruncatedFileError,
    5: UnsupportedError,
    6: UnsupportedError,
    7: LimitExceededError,
    8: CancelledError,
    9: FileAccessError,
    10: FileAccessError,
    11: LibraryError,
    12: DamagedFileError,
    13: LibraryError,
}
