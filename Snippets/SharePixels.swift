// SPDX-License-Identifier: Apache-2.0
//! Passes the pixels of an image to cairo without a copy.

// snippet.hide
import CairoInterop
import EncodedImages
import ImageCodecs
import Pixels

// snippet.show
var options = DecodeOptions()
options.pixelFormat = .bgra8
let image = try ImageSource(EncodedBytes(mapping: "photo.jpg"), codecs: builtInCodecs)
    .image(options)
let surface = try unsafe image.cairoSurface()  // released by cairo_surface_destroy
