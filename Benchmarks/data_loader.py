# SPDX-License-Identifier: Apache-2.0
"""Measures the input of a training: PyTorch's DataLoader with random-resized-crop to 224 pixels.

usage: data_loader.py [--workers 2] [--images N] [--rounds N] [--large N] [FILE.jpg]

Each library decodes the same crops of the same files to tensors of bytes, in alternation, so that other load affects
all; figures are medians. The PSNR compares crops with those of the whole image, reduced by Pillow with the Lanczos
kernel. Needs the packages calotype, numpy and Pillow; torchvision and OpenCV are measured if they are installed (Debian:
python3-torchvision, python3-opencv). Without torch, forked processes return arrays in the place of the DataLoader.
"""

import argparse
import multiprocessing
import os
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy
import PIL.Image

import calotype

try:
    import torch
    import torch.utils.data
except ImportError:
    torch = None
    print("torch is not installed: forked processes instead of its DataLoader")

ROOT = Path(__file__).resolve().parent.parent
PHOTOGRAPH = "photos/caliterra/IMG_9384.jpg"
WALLPAPER = "/usr/share/backgrounds/mate/nature/Wood.jpg"
CROP = 224
BATCH = 16


def random_region(seed, size):
    """A region of 8 to 100 % of the area with a ratio of 3/4 to 4/3, as random-resized-crop chooses."""
    generator = random.Random(seed)
    area = size[0] * size[1] * generator.uniform(0.08, 1)
    ratio = generator.uniform(3 / 4, 4 / 3)
    width = min(size[0], round((area * ratio) ** 0.5))
    height = min(size[1], round((area / ratio) ** 0.5))
    return generator.randint(0, size[0] - width), generator.randint(0, size[1] - height), width, height


def tensor(image):
    """A copy of an image, which the receiver may write to."""
    array = numpy.array(image)
    return torch.from_numpy(array) if torch else array


def with_calotype(path, seed, **options):
    source = calotype.open(path)
    region = random_region(seed, source.size)
    image = source.thumbnail((CROP, CROP), mode="RGB", fit="exact", enlarge=True, region=region, **options)
    return tensor(image)


def with_half_chroma(path, seed):
    return with_calotype(path, seed, half_chroma=True)


def with_pillow(path, seed):
    with PIL.Image.open(path) as image:
        left, top, width, height = random_region(seed, image.size)
        result = image.convert("RGB").resize(
            (CROP, CROP), PIL.Image.Resampling.BICUBIC, (left, top, left + width, top + height))
    return tensor(result)


def with_pillow_draft(path, seed):
    """As with_pillow, from the smallest size that the decoder makes and that contains enough pixels."""
    with PIL.Image.open(path) as image:
        size = image.size
        left, top, width, height = random_region(seed, size)
        # A factor of 2 is left to the resampler, for an equal PSNR.
        scale = 2 * CROP / min(width, height)
        if scale < 1:
            image.draft("RGB", (round(size[0] * scale), round(size[1] * scale)))
        x, y = image.size[0] / size[0], image.size[1] / size[1]
        box = (left * x, top * y, (left + width) * x, (top + height) * y)
        result = image.convert("RGB").resize((CROP, CROP), PIL.Image.Resampling.BICUBIC, box)
    return tensor(result)


LIBRARIES = {
    "calotype": with_calotype, "calotype, half_chroma": with_half_chroma, "Pillow": with_pillow,
    "Pillow, draft": with_pillow_draft}

try:
    import cv2

    def with_opencv(path, seed):
        image = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
        left, top, width, height = random_region(seed, image.shape[1::-1])
        part = image[top:top + height, left:left + width]
        return tensor(cv2.resize(part, (CROP, CROP), interpolation=cv2.INTER_AREA))

    cv2.setNumThreads(1)
    LIBRARIES["OpenCV"] = with_opencv
except ImportError:
    print("OpenCV is not installed")

try:
    import torchvision
    from torchvision.transforms import functional

    def with_torchvision(path, seed):
        image = torchvision.io.read_image(str(path), torchvision.io.ImageReadMode.RGB)
        left, top, width, height = random_region(seed, (image.shape[2], image.shape[1]))
        result = functional.resized_crop(image, top, left, height, width, [CROP, CROP], antialias=True)
        return result.permute(1, 2, 0).contiguous()

    LIBRARIES["torchvision"] = with_torchvision
except ImportError:
    print("torchvision is not installed")


class Crops:
    """A data set of crops of files, which take turns; the index is the seed."""

    def __init__(self, paths, count, decode):
        self.paths, self.count, self.decode = paths, count, decode

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.decode(self.paths[index % len(self.paths)], index)


def item(arguments):
    """An item of a data set, for a process that has not inherited it."""
    name, paths, index = arguments
    return LIBRARIES[name](paths[index % len(paths)], index)


def batches_of(paths, count, name, workers):
    """The batches of an epoch, of which each worker makes one at a time."""
    if torch:
        crops = Crops(paths, count, LIBRARIES[name])
        yield from torch.utils.data.DataLoader(
            crops, BATCH, num_workers=workers, multiprocessing_context="fork")
        return
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        items = pool.imap(item, [(name, paths, index) for index in range(count)], chunksize=BATCH)
        while batch := [image for _, image in zip(range(BATCH), items)]:
            yield numpy.stack(batch)


def images_a_second(paths, count, name, workers):
    """The rate of an epoch, without the start of the workers."""
    batches = batches_of(paths, count + BATCH * workers, name, workers)
    # The workers have started when each has made a batch.
    for _ in range(workers):
        next(batches)
    begin, received = time.perf_counter(), 0
    for batch in batches:
        received += len(batch)
    return received / (time.perf_counter() - begin)


def cpu_time(paths, count, decode):
    """The median CPU time of a crop in ms, in this process."""
    times = []
    for index in range(count):
        begin = time.process_time()
        decode(paths[index % len(paths)], index)
        times.append((time.process_time() - begin) * 1000)
    return statistics.median(times)


def similarity(paths, decode):
    errors = []
    for seed in range(12):
        path = paths[seed % len(paths)]
        with PIL.Image.open(path) as image:
            left, top, width, height = random_region(seed, image.size)
            expected = image.convert("RGB").resize(
                (CROP, CROP), PIL.Image.Resampling.LANCZOS, (left, top, left + width, top + height))
        errors.append(numpy.square(numpy.asarray(decode(path, seed)).astype(float) - numpy.asarray(expected)).mean())
    return 10 * numpy.log10(255**2 / statistics.mean(errors))


def measure(title, paths, count, rounds, workers):
    print(f"{title}, {workers} workers, {count} images a round, load {os.getloadavg()[0]:.1f}:")
    rates = {name: [] for name in LIBRARIES}
    for _ in range(rounds):
        for name in LIBRARIES:
            rates[name].append(images_a_second(paths, count, name, workers))
    best = statistics.median(rates["calotype"])
    for name, values in rates.items():
        rate = statistics.median(values)
        decode = LIBRARIES[name]
        print(f"  {name:24} {rate:7.1f} images/s   calotype is {best / rate:5.2f} times as fast   "
              f"{cpu_time(paths, min(count, 40), decode):6.2f} ms of CPU   PSNR {similarity(paths, decode):.1f} dB",
              flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--images", type=int, default=320)
    parser.add_argument("--large", type=int, default=48, help="images a round from the file at its own size")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    path = arguments.file or Path(os.environ.get("CALOTYPE_CORPUS", ROOT.parent / "shared/corpus")) / PHOTOGRAPH
    if not path.is_file():
        path = Path(WALLPAPER)
    if torch:
        torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        # As in data sets such as ImageNet.
        small = Path(folder) / "small.jpg"
        with PIL.Image.open(path) as image:
            size = image.size
            image.convert("RGB").resize((500, 375), PIL.Image.Resampling.LANCZOS).save(small, quality=90)
        measure("500×375 pixels", [small], arguments.images, arguments.rounds, arguments.workers)
        measure(f"{size[0]}×{size[1]} pixels", [path], arguments.large, arguments.rounds, arguments.workers)


main()
