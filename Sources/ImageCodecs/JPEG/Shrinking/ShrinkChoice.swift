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
            return blockSide(sampling(frame.components[index], frame), isColor: isColor)
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

    /// Returns the reductions of luma for which the block sides of a YCbCr image are the same as for the
    /// plan, if nothing else of it changes.
    func reductions(_ frame: JPEGFrame) -> Range<Double> {
        var (least, most) = (0.0, Double.infinity)
        for index in frame.components.indices {
            let isColor = index > 0
            let chosen = blockSide(sampling(frame.components[index], frame), isColor: isColor)
            // 1 or 2.
            let factor = plan.reduction(ofChroma: isColor) / plan.reduction(ofChroma: false)
            let sampling = sampling(frame.components[index], frame)
            for side in Self.sides where side <= chosen {
                let residual = residual(side, isColor: isColor)
                let isEnough = { $0 * factor * sampling * Double(side) / 8 >= residual }
                var limit = residual * 8 / Double(side) / sampling / factor
                while !isEnough(limit) { limit = limit.nextUp }
                while isEnough(limit.nextDown) { limit = limit.nextDown }
                if side == chosen { least = max(least, limit) } else { most = min(most, limit) }
            }
        }
        return least < most ? least..<most : 0..<0
    }

    /// Returns whether the block sides of any file with full or half chroma are the same for another plan.
    func isSame(as other: ShrinkChoice) -> Bool {
        func sides(_ choice: ShrinkChoice) -> [Int] {
            [choice.blockSide(1, isColor: false)]
                + [1, 0.5].map { choice.blockSide($0, isColor: true) }
        }
        let own = sides(self)
        return own[0] < 8 && own == sides(other)
    }

    /// The sides to which a block is reduced.
    private static let sides = [1, 2, 4]

    /// Returns the block side of a component with the given ``sampling(_:_:)``.
    private func blockSide(_ sampling: Double, isColor: Bool) -> Int {
        let reduction = plan.reduction(ofChroma: isColor) * sampling
        return Self.sides.first { side in
            reduction * Double(side) / 8 >= residual(side, isColor: isColor)
        } ?? 8
    }

    /// Returns the samples of a component per pixel along a side, the lesser of both.
    private func sampling(_ component: JPEGFrame.Component, _ frame: JPEGFrame) -> Double {
        min(
            Double(component.horizontalSampling) / Double(frame.maximumHorizontalSampling),
            Double(component.verticalSampling) / Double(frame.maximumVerticalSampling))
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
