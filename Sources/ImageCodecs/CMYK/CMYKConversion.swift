// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

#if ICC
internal import CICC
#endif

/// Converts CMYK rows to sRGB, by the image's profile if it has one.
///
/// Without a profile the inks are treated as ideal filters, as browsers do.
struct CMYKConversion: ~Copyable {
    private let isInverted: Bool
    #if ICC
    private let transform: ICCTransform?
    #endif

    init(_ profile: ColorProfile, isInverted: Bool) throws(CodecError) {
        self.isInverted = isInverted
        #if ICC
        if case .icc(let bytes) = profile {
            try unsafe requireLibrary(calotype_icc_missing())
            transform = ICCTransform(fromCMYK: bytes, isInverted: isInverted)
        } else {
            transform = nil
        }
        #endif
    }

    func convert(_ inks: Span<UInt8>, into row: inout [UInt8]) {
        #if ICC
        switch transform {
        case .some(let transform): return transform.convert(inks, into: &row)
        case .none: break
        }
        #endif
        for x in 0..<inks.count / 4 {
            let black = light(inks[x * 4 + 3])
            for c in 0..<3 {
                let color = light(inks[x * 4 + c])
                row[x * 3 + c] = PremultipliedAlpha.multiplied(color, by: black)
            }
        }
    }

    /// Returns the transmittance of an amount of ink.
    private func light(_ ink: UInt8) -> UInt8 { isInverted ? ink : 255 - ink }
}
