// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageCodecs

@Suite("Video range") struct VideoRangeTests {
    @Test("every sample is expanded to the nearest level", arguments: [false, true])
    func widening(isColor: Bool) {
        // A length that is not a multiple of the vector width.
        let samples = (0..<259).map { UInt8(truncatingIfNeeded: $0) }
        var result = [UInt8](repeating: 0, count: samples.count)
        VideoRange.widen(samples.span, isColor: isColor, into: &result)
        let expected = samples.map { sample in
            let level =
                isColor
                ? (Double(sample) - 128) * 255 / 224 + 128 : (Double(sample) - 16) * 255 / 219
            return UInt8((min(max(level, 0), 255) + 0.5).rounded(.down))
        }
        #expect(result == expected)
    }
}
