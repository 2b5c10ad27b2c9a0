// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// Chooses the reduction of each component in the decoder.
///
/// The thresholds were measured with eight photographs: each was reduced in the decoder,
/// resampled, and compared with a full decode. At ⅛ the result is visibly different if less
/// than a factor of 2 is left to the resampler; at ¼ and ½, less than 1.5, because there
/// frequencies are cut off rather than blurred. If the result has chroma at half resolution, a
/// factor of 1.25 is enough for chroma: quality 80 would not keep the difference. If chroma is halved
/// after a conversion of colours, it needs nearly the resolution of the result until then.
struct ShrinkChoice {
    private let plan: DecodePlan

    init(_ plan: DecodePlan) { self.plan = plan }

    /// Returns for each component the side *n* of the *n* × *n* samples to which a block is
    /// decoded: 1, 2, 4 or 8.
    ///
    /// - Returns: `nil` if the image is needed at full size.
    func blockSides(_ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace) -> [Int]? {
        let sides = frame.components.indices.map { index in
            let isColor = space == .yCbCr && index > 0
            return blockSide(frame, index, isColor: isColor)
        }
        if space == .yCbCr { return sides[0] < 8 ? sides : nil }
        // CMYK and RGB components are interleaved sample by sample, so they need one size.
        guard let side = sides.max(), side < 8,
            frame.components.allSatisfy({
                $0.horizontalSampling == frame.maximumHorizontalSampling
                    && $0.verticalSampling == frame.maximumVerticalSampling
            })
        else { return nil }
        return sides.map { _ in side }
    }

    private func blockSide(_ frame: JPEGFrame, _ index: Int, isColor: Bool) -> Int {
        let component = frame.components[index]
        let horizontal =
            Double(component.horizontalSampling) / Double(frame.maximumHorizontalSampling)
        let vertical =
            Double(component.verticalSampling) / Double(frame.maximumVerticalSampling)
        let reduction = plan.reduction(ofChroma: isColor) * min(horizontal, vertical)
        return [1, 2, 4].first { side in
            reduction * Double(side) / 8 >= residual(side, isColor: isColor)
        } ?? 8
    }

    /// Returns the minimum factor to leave to the resampler.
    private func residual(_ side: Int, isColor: Bool) -> Double {
        switch plan.quality {
        case .fast: isColor ? 0.5 : 1
        case .exact where isColor && plan.keepsYCbCr: 1.25
        case .exact where isColor && plan.halvesChroma: 0.95
        case .exact: side == 1 ? 2 : 1.5
        }
    }
}
#endif
