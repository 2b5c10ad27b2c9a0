// SPDX-License-Identifier: Apache-2.0

// Public, because the conformances below are.
public import ArgumentParser
public import EncodedImages
public import Pixels

extension ResizeMode: ExpressibleByArgument {}
extension EncodeOptions.ChromaSubsampling: ExpressibleByArgument {}
extension MetadataPolicy.Kept: ExpressibleByArgument {}

/// How a picture meets the size that was asked for.
struct ResizeArguments: ParsableArguments {
    @Option(
        help: """
            How a picture meets a box: fit keeps all of it inside, fill covers the box and cuts \
            the rest off, stretch gives up its proportions.
            """)
    var mode = ResizeMode.fit

    @Flag(help: "Enlarge pictures that are smaller than the size.")
    var enlarge = false

    func decodeOptions(_ size: SizeArgument?) -> DecodeOptions {
        var options = DecodeOptions()
        options.box = size?.box
        options.mode = mode
        options.allowsEnlarging = enlarge
        return options
    }
}

/// How much lossy formats may lose.
struct QualityArguments: ParsableArguments {
    @Option(help: "The quality of lossy formats from 1 to 100.", transform: parseQuality)
    var quality = 80

    @Option(
        name: .customLong("target-ssim"),
        help: """
            How like the picture at its size the file must look (SSIM, 0.5 to 0.999): the lowest \
            quality from 32 to 95 that is enough is taken in place of --quality. Animations do not \
            look at it.
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

/// A number from 1 to 100.
package func parseQuality(_ text: String) throws -> Int {
    guard let quality = Int(text), 1...100 ~= quality else {
        throw ValidationError("the quality is a whole number from 1 to 100")
    }
    return quality
}

/// A number from 0.5 to 0.999.
package func parseTargetSSIM(_ text: String) throws -> Double {
    guard let target = Double(text), EncodeOptions.targetSSIMs ~= target else {
        throw ValidationError("the SSIM that is wanted is a number from 0.5 to 0.999")
    }
    return target
}

/// A number from 0 to 9.
func parseEffort(_ text: String) throws -> Int {
    guard let effort = Int(text), 0...9 ~= effort else {
        throw ValidationError("the effort is a whole number from 0 to 9")
    }
    return effort
}
