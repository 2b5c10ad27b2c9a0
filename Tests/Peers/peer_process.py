# SPDX-License-Identifier: Apache-2.0
"""Executes scripts in forks of a process that has imported NumPy and Pillow, which takes longer than most scripts.

Reads a JSON array from each line: the path of a script and its arguments. Writes a byte, which is 0 if the script
succeeded, the length of its output in 8 bytes, most significant first, and the output.
"""

import json
import os
import runpy
import sys
import traceback

import numpy  # noqa: F401
from PIL import Image, ImageCms, ImageOps  # noqa: F401


def execute(arguments, writer):
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(writer, 1)
    sys.argv = arguments
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as exit:
        return exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def output_of(arguments):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        status = execute(arguments, writer)
        sys.stdout.flush()
        os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        output = pipe.read()
    return os.waitpid(child, 0)[1] == 0, output


for line in sys.stdin.buffer:
    succeeded, output = output_of(json.loads(line))
    sys.stdout.buffer.write(bytes([not succeeded]) + len(output).to_bytes(8, "big") + output)
    sys.stdout.flush()
