// SPDX-License-Identifier: Apache-2.0
//! Decodes a photograph at the size at which it is needed, and writes it as JPEG.

// snippet.show
import EncodedImages
import ImageCodecs

let source = try ImageSource(EncodedBytes(mapping: "photo.jpg"), codecs: builtInCodecs)
print(source.format.name, source.pixelSize)

let image = try source.image(DecodeOptions(maximumSide: 400))
try ImageDestination(format: "jpeg", codecs: builtInCodecs).write(image, to: "small.jpg")
