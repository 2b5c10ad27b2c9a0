# SPDX-License-Identifier: Apache-2.0
"""The extension module over libcalotype, which pkg-config finds; scripts/wheel sets PKG_CONFIG_PATH."""

import subprocess

from setuptools import Extension, setup


def flags(option):
    answer = subprocess.run(["pkg-config", option, "calotype"], check=True, stdout=subprocess.PIPE, text=True)
    return answer.stdout.split()


setup(
    ext_modules=[
        Extension(
            "calotype._native", ["calotype/_native.c"], depends=["calotype/_dlpack.h"], py_limited_api=True,
            extra_compile_args=["-O2", "-std=gnu11", "-Wall", "-Wextra", "-Wno-cast-function-type",
                                *flags("--cflags")],
            extra_link_args=flags("--libs"))
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
