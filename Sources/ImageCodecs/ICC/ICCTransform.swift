// SPDX-License-Identifier: Apache-2.0

#if ICC
internal import CICC
internal import Pixels

/// The sole owner of an lcms2 transform to sRGB.
@safe struct ICCTransform: ~Copyable {
    private let raw: OpaquePointer
    private let sourceByteCount: Int
    private let resultByteCount: Int

    /// Creates a transform; `nil` if the profile is damaged or does not match the pixel format.
    ///
    /// For ``PixelFormat/rgbaHalf`` a pixel is four `Float` values; colours outside of sRGB are
    /// below 0 or above 1.
    init?(from profile: ColorProfile, _ format: PixelFormat) {
        let layout: calotype_icc_layout
        switch format {
        case .gray8: layout = calotype_icc_gray
        case .rgb8: layout = calotype_icc_rgb
        case .rgba8: layout = calotype_icc_rgba
        case .gray16: layout = calotype_icc_gray16
        case .rgb16: layout = calotype_icc_rgb16
        case .rgba16: layout = calotype_icc_rgba16
        case .rgbaHalf: layout = calotype_icc_rgba_float
        default: return nil
        }
        switch profile {
        case .sRGB:
            return nil
        case .icc(let bytes):
            unsafe self.init(Self.create(bytes, layout), format)
        case .calibrated(let gamma, let chromaticities):
            let points = [
                chromaticities.white, chromaticities.red, chromaticities.green,
                chromaticities.blue,
            ]
            let raw = unsafe calotype_icc_transform_create_calibrated(
                gamma, points.flatMap { [$0.x, $0.y] }, layout)
            unsafe self.init(raw, format)
        case .coded(let points):
            let curve = TransferCurve(points.curve).table
            let chromaticities = points.chromaticities
            let xy = [
                chromaticities.white, chromaticities.red, chromaticities.green,
                chromaticities.blue,
            ]
            let raw = unsafe calotype_icc_transform_create_curve(
                curve, curve.count, xy.flatMap { [$0.x, $0.y] }, layout)
            unsafe self.init(raw, format)
        }
    }

    /// Creates a transform from CMYK to RGB; in inverted samples 0 is full ink.
    init?(fromCMYK profile: [UInt8], isInverted: Bool) {
        let layout = isInverted ? calotype_icc_cmyk_inverted : calotype_icc_cmyk
        guard let raw = unsafe Self.create(profile, layout) else { return nil }
        unsafe self.raw = raw
        sourceByteCount = 4
        resultByteCount = 3
    }

    /// Creates a transform from sRGB to a profile for ``PixelFormat/rgbaHalf``; `nil` if the profile is
    /// damaged or not for RGB.
    init?(toProfile profile: [UInt8]) {
        let raw = unsafe profile.withUnsafeBufferPointer {
            unsafe calotype_icc_transform_create_output($0.baseAddress, $0.count)
        }
        unsafe self.init(raw, .rgbaHalf)
    }

    private init?(_ raw: OpaquePointer?, _ format: PixelFormat) {
        guard let raw = unsafe raw else { return nil }
        unsafe self.raw = raw
        sourceByteCount = format == .rgbaHalf ? 16 : format.bytesPerPixel
        resultByteCount = sourceByteCount
    }

    deinit { unsafe calotype_icc_transform_destroy(raw) }

    /// Converts a row of pixels; alpha is straight and copied.
    func convert(_ source: Span<UInt8>, into result: inout [UInt8]) {
        let pixelCount = source.count / sourceByteCount
        precondition(result.count >= pixelCount * resultByteCount, "the row is too short")
        unsafe source.withUnsafeBufferPointer { source in
            unsafe result.withUnsafeMutableBufferPointer { result in
                unsafe calotype_icc_transform_convert(
                    raw, source.baseAddress, result.baseAddress, pixelCount)
            }
        }
    }

    /// Converts a row of pixels in place; alpha is straight.
    func convert(_ row: inout MutableSpan<UInt8>) {
        precondition(sourceByteCount == resultByteCount, "pixels change their size")
        let pixelCount = row.count / sourceByteCount
        unsafe row.withUnsafeMutableBytes {
            unsafe calotype_icc_transform_convert(
                raw, $0.baseAddress, $0.baseAddress, pixelCount)
        }
    }

    /// Converts a row of RGBA with straight alpha in place.
    func convert(_ row: inout [Float]) {
        precondition(sourceByteCount == 16, "the transform must be for RGBA of Float")
        let pixelCount = row.count / 4
        unsafe row.withUnsafeMutableBytes {
            unsafe calotype_icc_transform_convert(
                raw, $0.baseAddress, $0.baseAddress, pixelCount)
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
