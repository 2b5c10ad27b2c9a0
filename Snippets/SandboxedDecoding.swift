// SPDX-License-Identifier: Apache-2.0
//! Decodes untrusted images in worker processes.

// snippet.hide
import EncodedImages
import ImageCodecs
// snippet.show
import DecoderSandbox

let worker = "/usr/lib/calotype/calotype-decoder"
let sandbox = DecoderSandbox(.init(workerPath: worker, workerCount: 4))
let codecs = builtInCodecs.decoded(by: sandbox)  // for ImageSource and ImagePipeline, as above
