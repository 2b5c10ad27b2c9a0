// SPDX-License-Identifier: Apache-2.0

#if ICC
    internal import CICC
    internal import Pixels

    /// The only owner of an lcms2 transform to sRGB.
    @safe struct ICCTransform: ~Copyable {
        private let raw: OpaquePointer
        private let sourceChannelCount: Int
        private let resultChannelCount: Int

        /// `nil` when the profile is damaged or is not for pixels of this format.
        init?(from profile: ColorProfile, _ format: PixelFormat) {
            let layout: calotype_icc_layout
            switch format {
            case .gray8: layout = calotype_icc_gray
            case .rgb8: layout = calotype_icc_rgb
            case .rgba8: layout = calotype_icc_rgba
            default: return nil
            }
            switch profile {
            case .sRGB:
                return nil
            case .icc(let bytes):
                unsafe self.init(Self.create(bytes, layout), format, format)
            case .calibrated(let gamma, let chromaticities):
                let points = [
                    chromaticities.white, chromaticities.red, chromaticities.green,
                    chromaticities.blue,
                ]
                let raw = unsafe calotype_icc_transform_create_calibrated(
                    gamma, points.flatMap { [$0.x, $0.y] }, layout)
                unsafe self.init(raw, format, format)
            case .coded(let points):
                let curve = TransferCurve(points.curve).table
                let chromaticities = points.chromaticities
                let xy = [
                    chromaticities.white, chromaticities.red, chromaticities.green,
                    chromaticities.blue,
                ]
                let raw = unsafe calotype_icc_transform_create_curve(
                    curve, curve.count, xy.flatMap { [$0.x, $0.y] }, layout)
                unsafe self.init(raw, format, format)
            }
        }

        /// From CMYK to RGB; inverted means that 0 is full ink.
        init?(fromCMYK profile: [UInt8], isInverted: Bool) {
            let layout = isInverted ? calotype_icc_cmyk_inverted : calotype_icc_cmyk
            guard let raw = unsafe Self.create(profile, layout) else { return nil }
            unsafe self.raw = raw
            sourceChannelCount = 4
            resultChannelCount = 3
        }

        private init?(_ raw: OpaquePointer?, _ source: PixelFormat, _ result: PixelFormat) {
            guard let raw = unsafe raw else { return nil }
            unsafe self.raw = raw
            sourceChannelCount = source.channelCount
            resultChannelCount = result.channelCount
        }

        deinit { unsafe calotype_icc_transform_destroy(raw) }

        /// Converts a row of pixels; alpha is copied and must not be premultiplied.
        func convert(_ source: Span<UInt8>, into result: inout [UInt8]) {
            let pixelCount = source.count / sourceChannelCount
            precondition(result.count >= pixelCount * resultChannelCount, "the row is too short")
            unsafe source.withUnsafeBufferPointer { source in
                unsafe result.withUnsafeMutableBufferPointer { result in
                    unsafe calotype_icc_transform_convert(
                        raw, source.baseAddress, result.baseAddress, pixelCount)
                }
            }
        }

        private static func create(
            _ profile: [UInt8], _ layout: calotype_icc_layout
        ) -> OpaquePointer? {
            unsafe profile.withUnsafeBufferPointer {
                unsafe calotype_icc_transform_create($0.baseAddress, $0.count, layout)
            }
        }
    }
#endif
