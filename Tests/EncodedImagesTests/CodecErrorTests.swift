// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Testing

@Suite("The text of a codec error") struct CodecErrorTests {
    @Test("names the position of damage if it is known")
    func damage() {
        let known = CodecError.malformed(reason: "no marker", offset: 17)
        #expect("\(known)" == "damaged near byte 17: no marker")
        let unknown = CodecError.malformed(reason: "invalid RAW data", offset: 0)
        #expect("\(unknown)" == "damaged: invalid RAW data")
    }
}
