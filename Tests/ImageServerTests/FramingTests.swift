// SPDX-License-Identifier: Apache-2.0

import Effects
import Pixels
import Testing

@testable import ImageServer

@Suite("Framing") struct FramingTests {
    private func acceptsYCbCr(_ options: FrameOptions, _ background: SRGBColor? = nil) -> Bool {
        Framing(
            options: options, box: PixelSize(width: 64, height: 64), scale: 1,
            background: background, watermark: nil
        ).acceptsYCbCr
    }

    @Test("takes planes of YCbCr unless its result may be transparent") func planes() {
        var fill = FrameOptions()
        fill.extending = .init(isBlurred: true)
        #expect(acceptsYCbCr(fill))
        var marked = FrameOptions()
        marked.watermark = .init()
        #expect(acceptsYCbCr(marked))

        var extended = FrameOptions()
        extended.extending = .init()
        var padded = fill
        padded.margins = .init(top: 1, right: 1, bottom: 1, left: 1)
        let clear = SRGBColor(red: 0, green: 0, blue: 0, alpha: 0.5)
        let white = SRGBColor(red: 1, green: 1, blue: 1, alpha: 1)
        for options in [extended, padded] {
            #expect(!acceptsYCbCr(options))
            #expect(!acceptsYCbCr(options, clear))
            #expect(acceptsYCbCr(options, white))
        }
    }
}
