// SPDX-License-Identifier: Apache-2.0

import Pixels
import Testing

@Suite("ICC profiles") struct ICCProfileTests {
    /// Returns a profile whose only tag is `desc`, at byte 144.
    private func profile(_ tag: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: 36) + Array("acsp".utf8) + [UInt8](repeating: 0, count: 88)
            + [0, 0, 0, 1] + Array("desc".utf8)
            + [0, 0, 0, 144, 0, 0, 0, UInt8(tag.count)] + tag
    }

    private let ascii = Array("desc".utf8) + [0, 0, 0, 0, 0, 0, 0, 4] + Array("Odd\0".utf8)
    private let localized =
        Array("mluc".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 12] + Array("enUS".utf8)
        + [0, 0, 0, 4, 0, 0, 0, 28, 0x00, 0x50, 0x00, 0xE9]

    @Test("Descriptions of both types, desc and mluc, are read")
    func readsNames() {
        #expect(ICCProfile(profile(ascii))?.description == "Odd")
        #expect(ICCProfile(profile(localized))?.description == "Pé")
    }

    @Test("A profile truncated at any byte has no description")
    func survivesCuts() {
        for whole in [profile(ascii), profile(localized)] {
            for count in whole.indices {
                #expect(ICCProfile(Array(whole[..<count]))?.description == nil)
            }
        }
    }
}
