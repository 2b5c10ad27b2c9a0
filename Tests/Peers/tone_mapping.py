# SPDX-License-Identifier: Apache-2.0
"""Compares a conversion of PQ or HLG to sRGB with ITU-R BT.2390: tone_mapping.py pq|hlg HDR.png SDR.png

Both files have the primaries of BT.2020 and of sRGB. The reference is computed in double precision: HLG is
rendered for 1,000 cd/m2 (BT.2100, table 5), each primary is tone-mapped from 1,000 to 203 cd/m2 (BT.2390,
5.4.1), and colours outside of sRGB are clipped. Prints the mean, the 99th percentile and the maximum of the
difference in ICtCp (BT.2124), where 1 is just visible.
"""

import sys

import numpy
import pyvips

PEAK, WHITE = 1000, 203
# From linear BT.2020 to linear sRGB (ITU-R BT.2087).
TO_SRGB = numpy.array(
    [[1.660491, -0.587641, -0.072850], [-0.124550, 1.132900, -0.008349], [-0.018151, -0.100579, 1.118730]]
)
# From linear BT.2020 to cone responses, and from their PQ signals to ICtCp (BT.2100, table 7).
TO_CONES = numpy.array([[1688, 2146, 262], [683, 2951, 462], [99, 309, 3688]]) / 4096
TO_ICTCP = numpy.array([[2048, 2048, 0], [6610, -13613, 7003], [17933, -17390, -543]]) / 4096


def signal(luminance):
    power = numpy.power(numpy.maximum(luminance, 0) / 10000, 1305 / 8192)
    return numpy.power((107 / 128 + 2413 / 128 * power) / (1 + 2392 / 128 * power), 2523 / 32)


def luminance(signals):
    root = numpy.power(signals, 32 / 2523)
    ratio = numpy.maximum(root - 107 / 128, 0) / (2413 / 128 - 2392 / 128 * root)
    return 10000 * numpy.power(ratio, 8192 / 1305)


def rendered_hlg(signals):
    scene = numpy.where(
        signals <= 0.5,
        signals**2 / 3,
        (numpy.exp((signals - 0.55991073) / 0.17883277) + 0.28466892) / 12,
    )
    weight = scene @ numpy.array([0.2627, 0.6780, 0.0593])
    return PEAK * numpy.power(weight, 0.2)[..., None] * scene


def tone_mapped(light):
    source = signal(PEAK)
    maximum = signal(WHITE) / source
    value = numpy.minimum(signal(light) / source, 1)
    knee = 1.5 * maximum - 0.5
    t = (value - knee) / (1 - knee)
    curve = (
        (2 * t**3 - 3 * t**2 + 1) * knee
        + (t**3 - 2 * t**2 + t) * (1 - knee)
        + (-2 * t**3 + 3 * t**2) * maximum
    )
    return luminance(numpy.where(value > knee, curve, value) * source)


def ictcp(light):
    """Returns ICtCp of light in BT.2020 in cd/m2, with Ct halved as BT.2124 defines."""
    values = signal(light @ TO_CONES.T) @ TO_ICTCP.T
    return values * numpy.array([1, 0.5, 1])


def pixels(path):
    image = pyvips.Image.new_from_file(path)
    return image.numpy()[:, :, :3].astype(float) / (65535 if image.format == "ushort" else 255)


kind, original, made = sys.argv[1:]
signals = pixels(original)
light = luminance(signals) if kind == "pq" else rendered_hlg(signals)
wanted = numpy.clip(tone_mapped(light) / WHITE @ TO_SRGB.T, 0, 1)
samples = pixels(made)
found = numpy.where(samples <= 0.04045, samples / 12.92, ((samples + 0.055) / 1.055) ** 2.4)
to_bt2020 = numpy.linalg.inv(TO_SRGB).T
difference = 720 * numpy.linalg.norm(
    ictcp(found @ to_bt2020 * WHITE) - ictcp(wanted @ to_bt2020 * WHITE), axis=2
)
print(difference.mean(), numpy.percentile(difference, 99), difference.max())
