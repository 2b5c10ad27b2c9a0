# SPDX-License-Identifier: Apache-2.0
"""Measures what limits the HDR rendition of Ultra HDR files that `calotype convert` reduces to 1024 pixels.

The base image and the gain map of a result are combined with each other, and each with the other one
without rounding and compression. The error is the peak signal-to-noise ratio at full headroom of PQ
signals and of PU21 values (Mantiuk and Azimi, 2021; a peak of 256), with white of SDR content at 203
cd/m2. The reference is the original in HDR, reduced with the curve of sRGB, as base images are; the last
column compares PQ signals with the original reduced in linear light instead. Needs a Python with pyvips
and numpy.
"""

import argparse
import tempfile
from pathlib import Path

import numpy
import pyvips

import thumbnails
from gain_maps import SIDE, signals

QUALITIES = (80, 90, 95, 98)
PU21 = (0.353487901, 0.3734658629, 8.277049286e-05, 0.9062562627, 0.09150303166, 0.9099517204,
        596.3148142)


def light(signal):
    """The light of signals of sRGB from 0 to 1, continued beyond 1."""
    power = numpy.power((numpy.maximum(signal, 0) + 0.055) / 1.055, 2.4)
    return numpy.where(signal <= 0.04045, signal / 12.92, power)


def signal(light):
    power = 1.055 * numpy.power(numpy.maximum(light, 0), 1 / 2.4) - 0.055
    return numpy.where(light <= 0.0031308, light * 12.92, power)


def uniform(light):
    """The PU21 values of light relative to 203 cd/m2."""
    power = numpy.power(numpy.clip(light * 203, 0.005, 10000), PU21[3])
    ratio = (PU21[0] + PU21[1] * power) / (1 + PU21[2] * power)
    return PU21[6] * (numpy.power(ratio, PU21[4]) - PU21[5])


def noise_ratios(image, wanted):
    pairs = ((signals, 1), (uniform, 256))
    return [
        10 * numpy.log10(peak**2 / numpy.mean((curve(image) - curve(wanted)) ** 2))
        for curve, peak in pairs
    ]


def resized(samples, width, height, kernel="lanczos3"):
    image = pyvips.Image.new_from_array(samples.astype(numpy.float32))
    scales = (width / image.width, height / image.height)
    result = image.resize(scales[0], vscale=scales[1], kernel=kernel).numpy()
    return result.reshape(height, width, -1).astype(float)


class UltraHDR:
    """The base image, the samples of the map and its values."""

    def __init__(self, path):
        image = pyvips.Image.uhdrload(str(path))
        self.base = image.numpy()[:, :, :3].astype(float)
        map_image = pyvips.Image.new_from_buffer(bytes(image.get("gainmap-data")), "")
        self.map = map_image.numpy().reshape(map_image.height, map_image.width, -1).astype(float)

        def value(name):
            return numpy.array(image.get(f"gainmap-{name}"), float)

        self.most, self.least = (numpy.log2(value(f"{name}-content-boost")) for name in ("max", "min"))
        self.gamma = value("gamma")
        self.offsets = value("offset-sdr"), value("offset-hdr")

    def in_hdr(self, base, samples):
        """Linear light of a base image with the samples of a map (ISO 21496-1, 6.3)."""
        height, width = base.shape[:2]
        if samples.shape[:2] != (height, width):
            samples = resized(samples, width, height, "linear")
        share = numpy.power(numpy.clip(samples / 255, 0, 1), 1 / self.gamma)
        gain = numpy.exp2(self.least + (self.most - self.least) * share)
        return (light(base / 255) + self.offsets[0]) * gain - self.offsets[1]


def measure(calotype, source):
    """Yields the quality, the parts of the result that are compared, the ratios and the bytes."""
    original = UltraHDR(source)
    whole = numpy.maximum(original.in_hdr(original.base, original.map), 0)
    for quality in QUALITIES:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/result.jpg"
            thumbnails.run(
                calotype, "convert", source, path, "--size", str(SIDE), "--keep-profile",
                "--metadata", "color", "--quality", str(quality))
            made = UltraHDR(path)
            byte_count = Path(path).stat().st_size
        height, width = made.base.shape[:2]
        if quality == QUALITIES[0]:
            wanted = light(resized(signal(whole), width, height))
            linear = resized(whole, width, height)
            base = numpy.clip(resized(original.base, width, height), 0, 255)
            samples = resized(original.map, *reversed(made.map.shape[:2]))
            yield "-", "neither", original.in_hdr(base, samples), wanted, linear, 0
        for parts, image in (
            ("map alone", original.in_hdr(base, made.map)),
            ("base alone", original.in_hdr(made.base, samples)),
            ("both", made.in_hdr(made.base, made.map)),
        ):
            yield quality, parts, image, wanted, linear, byte_count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calotype", help="the calotype command")
    parser.add_argument("files", nargs="+", type=Path, help="Ultra HDR files")
    arguments = parser.parse_args()
    # Results are cached by name otherwise.
    pyvips.cache_set_max(0)
    calotype = str(Path(arguments.calotype).resolve())
    print("| file     | quality | encoded    | file   | PQ      | PU21    | PQ, linear |")
    print("|----------|---------|------------|--------|---------|---------|------------|")
    for source in arguments.files:
        for quality, parts, image, wanted, linear, byte_count in measure(calotype, source):
            ratios = noise_ratios(image, wanted) + noise_ratios(image, linear)[:1]
            cells = " | ".join(f"{ratio:4.1f} dB" for ratio in ratios)
            size = byte_count or "-"
            print(f"| {source.name:<8} | {quality:>7} | {parts:<10} | {size:>6} | {cells}    |")


if __name__ == "__main__":
    main()
