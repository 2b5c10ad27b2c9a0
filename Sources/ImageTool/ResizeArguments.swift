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

/// A number from 1 to 100.
func parseQuality(_ text: String) throws -> Int {
    guard let quality = Int(text), 1...100 ~= quality else {
        throw ValidationError("the quality is a whole number from 1 to 100")
    }
    return quality
}

/// A number from 0 to 9.
func parseEffort(_ text: String) throws -> Int {
    guard let effort = Int(text), 0...9 ~= effort else {
        throw ValidationError("the effort is a whole number from 0 to 9")
    }
    return effort
}
