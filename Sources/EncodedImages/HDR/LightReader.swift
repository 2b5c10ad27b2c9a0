// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Pixels

extension ColorProfile {
    /// Whether signals exceed the white of SDR content: PQ and HLG.
    package var isHDR: Bool {
        guard case .coded(let points) = self else { return false }
        return points.curve == .perceptualQuantizer || points.curve == .hybridLogGamma
    }
}

/// Reads the pixels of an image as linear light, relative to the white of SDR content.
///
/// Samples of SDR are half floats in the curve and the primaries of sRGB, and may be below 0; those of
/// PQ and HLG have 16 bits and the primaries of the file. HLG is rendered for a display of 1,000 cd/m².
/// - SeeAlso: ITU-R BT.2100, tables 4 (PQ) and 5 (HLG); BT.2408, 2.2 (white of SDR content).
struct LightReader {
    /// The form in which the image must be decoded.
    let format: PixelFormat
    /// The matrix from the light that is read to the profile connection space.
    let connectionMatrix: Matrix3?
    /// Light by the bits of a sample; of HLG, that of the scene.
    private let light: [Float]
    /// Whether light is that of a scene in HLG.
    private let isHLG: Bool
    /// Weights of the luminance of BT.2020 (BT.2100, table 5).
    static let luminanceWeights = SIMD3<Float>(0.2627, 0.6780, 0.0593)

    /// A reader of the images of a file.
    ///
    /// - Parameter profile: the profile of the file.
    init(_ profile: ColorProfile) {
        format = Self.format(for: profile)
        if profile.isHDR, case .coded(let points) = profile {
            let isHLG = points.curve == .hybridLogGamma
            connectionMatrix = profile.connectionMatrix
            self.isHLG = isHLG
            light = (0...65535).map { sample in
                let signal = Double(sample) / 65535
                return Float(
                    isHLG
                        ? TransferCurve.sceneLight(ofHLG: signal)
                        : TransferCurve.luminance(ofSignal: signal)
                            / TransferCurve.referenceWhite)
            }
        } else {
            connectionMatrix = ColorProfile.sRGB.connectionMatrix
            isHLG = false
            let curve = TransferCurve(.sRGB)
            light = (0...65535).map { bits in
                let half = Float16(bitPattern: UInt16(bits))
                guard half.isFinite else { return 0 }
                // Colours outside of sRGB are mirrored at 0.
                let light = Float(curve.light(abs(Double(half))))
                return half < 0 ? -light : light
            }
        }
    }

    private static func format(for profile: ColorProfile) -> PixelFormat {
        profile.isHDR ? .rgb16 : .rgbaHalf
    }

    /// Returns the options with which an image is decoded for a reader.
    ///
    /// - Parameters:
    ///   - options: the size and the part of the image.
    ///   - profile: the profile of the file.
    /// - Returns: options for ``format``.
    static func options(_ options: DecodeOptions, for profile: ColorProfile) -> DecodeOptions {
        var options = options
        options.convertsToSRGB = !profile.isHDR
        options.acceptsYCbCr = false
        options.pixelFormat = format(for: profile)
        options.embeddedThumbnail = .ignore
        return options
    }

    /// Reads a row of an image in ``format``; alpha is ignored.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - colors: receives a colour for each pixel.
    func read(_ row: Span<UInt8>, into colors: inout [SIMD3<Float>]) {
        let step = format == .rgbaHalf ? 4 : 3
        row.withSamples16 { samples in
            for pixel in colors.indices {
                let start = pixel * step
                let color = SIMD3(
                    light[Int(samples[start])], light[Int(samples[start + 1])],
                    light[Int(samples[start + 2])])
                colors[pixel] = isHLG ? Self.rendered(color) : color
            }
        }
    }

    /// Returns the light of a display of 1,000 cd/m² for that of a scene in HLG, whose gamma is then 1.2.
    static func rendered(_ scene: SIMD3<Float>) -> SIMD3<Float> {
        let luminance = (scene * luminanceWeights).sum()
        return scene
            * (pow(luminance, 0.2) * Float(TransferCurve.usualPeak / TransferCurve.referenceWhite))
    }
}
