// SPDX-License-Identifier: Apache-2.0

import Pixels
import Testing

@Suite("Premultiplied alpha") struct PremultipliedAlphaTests {
    @Test("multiplying a row matches multiplying each sample")
    func rows() {
        for alpha in UInt8.min...UInt8.max {
            let row = (UInt8.min...UInt8.max).flatMap { [$0, 255 - $0, $0 ^ 0x55, alpha] }
            let expected = row.indices.map {
                $0 % 4 == 3 ? alpha : PremultipliedAlpha.multiplied(row[$0], by: alpha)
            }
            var inPlace = row
            var span = inPlace.mutableSpan
            PremultipliedAlpha.multiply(&span)
            #expect(inPlace == expected)
            var other = [UInt8](repeating: 0, count: row.count)
            span = other.mutableSpan
            PremultipliedAlpha.multiply(row.span, into: &span)
            #expect(other == expected)
        }
    }
}
