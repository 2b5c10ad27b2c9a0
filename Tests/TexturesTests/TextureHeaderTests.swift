// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Testing

@testable import Textures

@Suite("Texture headers")
struct TextureHeaderTests {
    @Test("of an unknown format are refused")
    func unknown() {
        #expect(throws: CodecError.unknownFormat) {
            try TextureHeader([0, 1, 2, 3].span)
        }
    }
}
