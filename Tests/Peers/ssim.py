# SPDX-License-Identifier: Apache-2.0
"""Prints the SSIM of two images of equal size, of luma over white: FILE OTHER.

Writes two numbers: with blocks of 8 by 8, one every 4 pixels, and as the paper has it, with a Gaussian
of 11 by 11 over every pixel (-1 for images that are too small for it).
"""

import sys

import numpy
from PIL import Image

C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def luma(path):
    image = Image.open(path).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    return numpy.asarray(Image.alpha_composite(white, image).convert("L")).astype(float)


def ssim(a, b, mean):
    """Returns SSIM by its definition; `mean` averages over each window."""
    mean_a, mean_b = mean(a), mean(b)
    variance_a, variance_b = mean(a * a) - mean_a**2, mean(b * b) - mean_b**2
    covariance = mean(a * b) - mean_a * mean_b
    structure = (2 * covariance + C2) / (variance_a + variance_b + C2)
    return ((2 * mean_a * mean_b + C1) / (mean_a**2 + mean_b**2 + C1) * structure).mean()


def block_means(plane):
    height, width = (max(8, -(-side // 4) * 4) for side in plane.shape)
    padding = ((0, height - plane.shape[0]), (0, width - plane.shape[1]))
    windows = numpy.lib.stride_tricks.sliding_window_view(
        numpy.pad(plane, padding, mode="edge"), (8, 8)
    )
    return windows[::4, ::4].mean(axis=(2, 3))


def gaussian_means(plane):
    weights = numpy.exp(-0.5 * (numpy.arange(-5, 6) / 1.5) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        windows = numpy.lib.stride_tricks.sliding_window_view(plane, 11, axis=axis)
        plane = windows @ weights
    return plane


first, second = luma(sys.argv[1]), luma(sys.argv[2])
is_small = min(first.shape) < 11
print(ssim(first, second, block_means), -1 if is_small else ssim(first, second, gaussian_means))
