// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages

    /// How far each component of a picture is shrunk.
    ///
    /// The rule comes from comparing eight photographs, reduced by each way and then resampled,
    /// with those that were decoded whole: what ⅛ leaves can be told from them only where less
    /// than a factor of 2 is left to the resampler, what ¼ and ½ leave where less than 1.5 is,
    /// because there frequencies are cut off and not blurred. Where the result has half as many
    /// samples of colour, 1.25 is enough for those: nothing is lost that quality 80 would keep.
    struct ShrinkChoice {
        private let plan: DecodePlan

        init(_ plan: DecodePlan) { self.plan = plan }

        /// The samples across and down that a block becomes, by component: 1, 2, 4 or 8.
        ///
        /// - Returns: `nil` where the picture as a whole is needed at its full size.
        func blockSides(_ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace) -> [Int]? {
            let sides = frame.components.indices.map { index in
                let isColor = space == .yCbCr && index > 0
                return blockSide(frame, index, isColor: isColor)
            }
            if space == .yCbCr { return sides[0] < 8 ? sides : nil }
            // Inks and primaries are joined sample by sample, so they come at one size.
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

        /// What must be left to the resampler at least.
        private func residual(_ side: Int, isColor: Bool) -> Double {
            switch plan.quality {
            case .fast: isColor ? 0.5 : 1
            case .exact where isColor && plan.keepsYCbCr: 1.25
            case .exact: side == 1 ? 2 : 1.5
            }
        }
    }
#endif
