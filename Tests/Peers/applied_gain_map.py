# SPDX-License-Identifier: Apache-2.0
"""Compares an image in HDR with libultrahdr's (by pyvips): applied_gain_map.py ULTRAHDR PNG

PNG contains the image in BT.2020 with PQ, with white of SDR content at 203 cd/m2. Prints the peak
signal-to-noise ratio in dB of the PQ signals.
"""

import sys

import numpy
import pyvips

# From linear sRGB to linear BT.2020 (ITU-R BT.2087).
PRIMARIES = numpy.array(
    [[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]]
)


def signal(luminance):
    """Returns the PQ signal of a luminance in cd/m2 (ITU-R BT.2100, table 4)."""
    power = numpy.power(numpy.maximum(luminance, 0) / 10000, 1305 / 8192)
    return numpy.power((107 / 128 + 2413 / 128 * power) / (1 + 2392 / 128 * power), 2523 / 32)


# Results are cached by name otherwise.
pyvips.cache_set_max(0)
light = pyvips.Image.uhdrload(sys.argv[1]).uhdr2scRGB().numpy()[:, :, :3].astype(float)
wanted = signal(light @ PRIMARIES.T * 203)
made = pyvips.Image.new_from_file(sys.argv[2]).numpy()[:, :, :3] / 65535
print(-10 * numpy.log10(numpy.mean((made - wanted) ** 2)))
