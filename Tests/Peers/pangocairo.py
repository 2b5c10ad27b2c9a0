#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a text with pangocairo into an alpha mask, and writes it as a PGM file to standard output.

pangocairo.py TEXT FONT SIZE X Y WIDTH HEIGHT [WRAP-WIDTH]
"""
import sys

import cairo
import gi

gi.require_version("Pango", "1.0")
gi.require_version("PangoCairo", "1.0")
from gi.repository import Pango, PangoCairo  # noqa: E402

text, font, size, x, y, width, height = sys.argv[1:8]
width, height = int(width), int(height)
surface = cairo.ImageSurface(cairo.FORMAT_A8, width, height)
context = cairo.Context(surface)
layout = PangoCairo.create_layout(context)
options = cairo.FontOptions()
options.set_antialias(cairo.ANTIALIAS_GRAY)
options.set_hint_style(cairo.HINT_STYLE_NONE)
options.set_hint_metrics(cairo.HINT_METRICS_OFF)
PangoCairo.context_set_font_options(layout.get_context(), options)
layout.get_context().set_round_glyph_positions(False)
layout.get_context().set_language(Pango.Language.from_string("en"))
description = Pango.FontDescription.from_string(font)
description.set_absolute_size(float(size) * Pango.SCALE)
layout.set_font_description(description)
if len(sys.argv) > 8:
    layout.set_width(int(float(sys.argv[8]) * Pango.SCALE))
    layout.set_wrap(Pango.WrapMode.WORD_CHAR)
layout.set_text(text, -1)
context.move_to(float(x), float(y))
PangoCairo.show_layout(context, layout)
surface.flush()
stride, data = surface.get_stride(), bytes(surface.get_data())
rows = b"".join(data[row * stride : row * stride + width] for row in range(height))
sys.stdout.buffer.write(b"P5 %d %d 255\n" % (width, height) + rows)
