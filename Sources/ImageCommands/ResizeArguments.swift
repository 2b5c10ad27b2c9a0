// SPDX-License-Identifier: Apache-2.0

// Public because of the conformances below.
public import ArgumentParser
public import EncodedImages
public import Pixels

extension ResizeMode: ExpressibleByArgument {}
extension EncodeOptions.ChromaSubsampling: ExpressibleByArgument {}
extension MetadataPolicy.Kept: ExpressibleByArgument {}

/// The options for how an image is resized to `--size`.
struct ResizeArguments: ParsableArguments {
    @Option(
        help: """
            How an image is resized to a box: fit keeps all of it inside, fill crops it to cover \
            the box, stretch changes its aspect ratio.
            """)
    var mode = ResizeMode.fit

    @Flag(help: "Enlarge images that are smaller than the size.")
    var enlarge = false

    @Option(
        help: """
            What happens to the HDR gain map of an image: keep resizes it too, and makes one for an \
            image in PQ or HLG, if the output is JPEG, AVIF or JPEG XL and no effect changes the \
            image; drop omits it; apply, of convert only, writes an HDR image (PNG, AVIF or JPEG XL).
            """)
    var gainMap = GainMapUse.keep

    func decodeOptions(_ size: SizeArgument?) -> DecodeOptions {
        var options = DecodeOptions()
        options.box = size?.box
        options.mode = mode
        options.allowsEnlarging = enlarge
        return options
    }
}

/// What happens to the gain map of an image.
package enum GainMapUse: String, CaseIterable, ExpressibleByArgument, Sendable {
    case keep, drop, apply
}

extension ImageSource {
    /// Returns the gain map that is written beside an image.
    ///
    /// - Parameters:
    ///   - use: the option of the command.
    ///   - options: the options with which the image is decoded.
    ///   - destination: where the image is written.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: `nil` for none.
    /// - Throws: `CodecError`.
    func gainMap(
        _ use: GainMapUse, _ options: DecodeOptions, for destination: ImageDestination,
        _ cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> GainMap? {
        guard use == .keep, destination.writesGainMaps else { return nil }
        return try gainMap(
            options, format: destination.format.name, quality: destination.options.quality,
            cancellation: cancellation)
    }
}

/// The help of `--strict`.
let strictHelp = ArgumentHelp(
    """
    Refuse truncated files and TIFF files with damaged strips or tiles; otherwise the part that \
    is present is decoded, with a warning on standard error.
    """)

/// The options for the quality of lossy formats.
struct QualityArguments: ParsableArguments {
    @Option(
        help: "The quality of lossy formats, from 1 to 100 (default: 80).", transform: parseQuality)
    var quality = 80

    @Option(
        name: .customLong("target-ssim"),
        help: """
            The minimum SSIM of the output, from 0.5 to 0.999, compared with the resized image. \
            The lowest sufficient quality from 32 to 95 overrides --quality. Animations ignore it.
            """,
        transform: parseTargetSSIM)
    var targetSSIM: Double?

    var encodeOptions: EncodeOptions {
        var options = EncodeOptions()
        options.quality = quality
        options.targetSSIM = targetSSIM
        return options
    }
}

/// Parses a quality from 1 to 100.
package func parseQuality(_ text: String) throws -> Int {
    guard let quality = Int(text), 1...100 ~= quality else {
        throw ValidationError("invalid quality: \(text); use a whole number from 1 to 100")
    }
    return quality
}

/// Parses an SSIM from 0.5 to 0.999.
package func parseTargetSSIM(_ text: String) throws -> Double {
    guard let target = Double(text), EncodeOptions.targetSSIMs ~= target else {
        throw ValidationError("invalid SSIM: \(text); use a number from 0.5 to 0.999")
    }
    return target
}

/// Parses a compression effort from 0 to 9.
func parseEffort(_ text: String) throws -> Int {
    guard let effort = Int(text), 0...9 ~= effort else {
        throw ValidationError("invalid effort: \(text); use a whole number from 0 to 9")
    }
    return effort
}

/// Parses a headroom in stops from 0 to 6.
func parseHeadroom(_ text: String) throws -> Double {
    guard let headroom = Double(text), 0...6 ~= headroom else {
        throw ValidationError("invalid headroom: \(text); use a number of stops from 0 to 6")
    }
    return headroom
}
