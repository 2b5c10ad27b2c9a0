// SPDX-License-Identifier: Apache-2.0
//! Loads an image through a pipeline and shows placeholders and previews until it is complete.

// snippet.hide
import EncodedImages
import ImageCodecs
// snippet.show
import ImageLoading
// snippet.hide
import Pixels

func show(_ image: PixelBuffer) { print(image.size) }
// snippet.show

let pipeline = ImagePipeline(codecs: builtInCodecs)
var request = ImageRequest(path: "photo.jpg", options: DecodeOptions(maximumSide: 400))
request.processors = [ImageOperation.roundCorners(radius: 12)]

for try await event in pipeline.updates(for: request) {
    switch event.kind {
    case .placeholder(let loaded), .preview(let loaded), .image(let loaded): show(loaded.image)
    case .progress: break
    }
}
