#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws textures with OpenGL ES 3 under EGL, without a window: FILE FORMAT WIDTH HEIGHT...

FILE contains the blocks of all textures, one after the other. Writes the drawn pixels as RGBA, top row first
as stored. Exits with 77 and a reason if EGL or a format is missing.
"""
import ctypes
import ctypes.util
import sys

# The number in OpenGL ES, the extension (None for those of OpenGL ES 3), bytes of a block of 4x4 pixels.
FORMATS = {
    "etc1": (0x9274, None, 8), "etc2": (0x9274, None, 8), "etc2a": (0x9278, None, 16),
    "eac-r": (0x9270, None, 8), "eac-rg": (0x9272, None, 16),
    "bc1": (0x83F0, "GL_EXT_texture_compression_s3tc", 8),
    "bc3": (0x83F3, "GL_EXT_texture_compression_s3tc", 16),
    "bc4": (0x8DBB, "GL_EXT_texture_compression_rgtc", 8),
    "bc5": (0x8DBD, "GL_EXT_texture_compression_rgtc", 16),
    "bc7": (0x8E8C, "GL_EXT_texture_compression_bptc", 16),
    # What a program uploads where the driver lacks a format.
    "rgba": (0x8058, None, 64),
}
VERTEX = b"""#version 300 es
void main() {
    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}"""
FRAGMENT = b"""#version 300 es
precision highp float;
uniform highp sampler2D image;
out vec4 color;
void main() { color = texelFetch(image, ivec2(gl_FragCoord.xy), 0); }"""
TEXTURE_2D, FRAMEBUFFER, RGBA, UNSIGNED_BYTE = 0x0DE1, 0x8D40, 0x1908, 0x1401


def skip(reason):
    print(reason, file=sys.stderr)
    sys.exit(77)


def load(name):
    try:
        return ctypes.CDLL(ctypes.util.find_library(name) or f"lib{name}.so")
    except OSError:
        skip(f"lib{name} is missing")


def make_context(egl):
    """Makes a context of OpenGL ES 3 without a surface current."""
    egl.eglGetPlatformDisplay.restype = ctypes.c_void_p
    egl.eglCreateContext.restype = ctypes.c_void_p
    surfaceless, es_api, no_config = 0x31DD, 0x30A0, None
    display = ctypes.c_void_p(egl.eglGetPlatformDisplay(surfaceless, None, None))
    if not display or not egl.eglInitialize(display, None, None):
        skip("EGL has no display without a window")
    egl.eglBindAPI(es_api)
    version = (ctypes.c_int * 3)(0x3098, 3, 0x3038)
    context = ctypes.c_void_p(egl.eglCreateContext(display, no_config, None, version))
    if not context or not egl.eglMakeCurrent(display, None, None, context):
        skip("EGL has no OpenGL ES 3")


def program(gl):
    """The program that copies texels to pixels."""
    result = gl.glCreateProgram()
    for kind, source in [(0x8B31, VERTEX), (0x8B30, FRAGMENT)]:
        shader = gl.glCreateShader(kind)
        text = ctypes.c_char_p(source)
        gl.glShaderSource(shader, 1, ctypes.byref(text), None)
        gl.glCompileShader(shader)
        gl.glAttachShader(result, shader)
    gl.glLinkProgram(result)
    return result


def new_texture(gl):
    name = ctypes.c_uint()
    gl.glGenTextures(1, ctypes.byref(name))
    gl.glBindTexture(TEXTURE_2D, name)
    for parameter in [0x2800, 0x2801]:
        gl.glTexParameteri(TEXTURE_2D, parameter, 0x2600)
    return name


def drawn(gl, file, form, width, height):
    """Draws the next texture of a file and returns its pixels."""
    number, _, block = FORMATS[form]
    count = (width + 3) // 4 * ((height + 3) // 4) * block
    if form == "rgba":
        count = width * height * 4
    data = file.read(count)
    target = new_texture(gl)
    gl.glTexStorage2D(TEXTURE_2D, 1, 0x8058, width, height)
    frame = ctypes.c_uint()
    gl.glGenFramebuffers(1, ctypes.byref(frame))
    gl.glBindFramebuffer(FRAMEBUFFER, frame)
    gl.glFramebufferTexture2D(FRAMEBUFFER, 0x8CE0, TEXTURE_2D, target, 0)
    new_texture(gl)
    if form == "rgba":
        gl.glTexImage2D(TEXTURE_2D, 0, number, width, height, 0, RGBA, UNSIGNED_BYTE, data)
    else:
        gl.glCompressedTexImage2D(TEXTURE_2D, 0, number, width, height, 0, len(data), data)
    gl.glViewport(0, 0, width, height)
    gl.glDrawArrays(4, 0, 3)
    pixels = ctypes.create_string_buffer(width * height * 4)
    gl.glReadPixels(0, 0, width, height, RGBA, UNSIGNED_BYTE, pixels)
    error = gl.glGetError()
    if error:
        sys.exit(f"{form}: OpenGL error {error:#x}")
    return pixels.raw


def main():
    egl, gl = load("EGL"), load("GLESv2")
    make_context(egl)
    gl.glGetString.restype = ctypes.c_char_p
    extensions = gl.glGetString(0x1F03).decode().split()
    requests = list(zip(sys.argv[2::3], map(int, sys.argv[3::3]), map(int, sys.argv[4::3])))
    for form, _, _ in requests:
        extension = FORMATS[form][1]
        if extension and extension not in extensions:
            skip(f"the driver lacks {extension}")
    gl.glUseProgram(program(gl))
    with open(sys.argv[1], "rb") as file:
        for request in requests:
            sys.stdout.buffer.write(drawn(gl, file, *request))


if __name__ == "__main__":
    main()
