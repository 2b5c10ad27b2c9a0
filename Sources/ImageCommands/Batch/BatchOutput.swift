// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import EncodedImages
internal import ImageCodecs
internal import Pixels

/// One of the images that a batch makes of each source, such as `thumb=320x320,fill,webp,q70`.
package struct BatchOutput: Hashable, Sendable {
    /// The name, which is also that of the folder of the files.
    package let name: String
    let size: SizeArgument
    private(set) var mode = ResizeMode.fit
    private(set) var allowsEnlarging = false
    private(set) var format = "jpeg"
    private(set) var encodeOptions = EncodeOptions()

    /// Parses an output.
    ///
    /// - Parameter text: `NAME=SIZE`, then options in any order.
    /// - Throws: `ValidationError` with the valid form.
    init(parsing text: String) throws {
        let halves = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard halves.count == 2 else {
            throw ValidationError(
                "invalid --outputs: \(text); use NAME=SIZE,OPTIONS, such as thumb=320x320,fill,webp"
            )
        }
        try self.init(name: halves[0], options: halves[1])
    }

    /// Parses an output whose name is known.
    ///
    /// - Parameters:
    ///   - name: letters, digits, `-` and `_`.
    ///   - options: the size, then options in any order, such as `320x320,fill,webp`.
    /// - Throws: `ValidationError` with the valid form.
    package init(name: String, options: String) throws {
        guard Self.isName(name) else {
            throw ValidationError(
                "invalid name of an output: \(name); use letters, digits, - and _")
        }
        self.name = name
        let parts = options.split(separator: ",", omittingEmptySubsequences: false)
        size = try SizeArgument(parsing: parts.first.map(String.init) ?? "")
        for part in parts.dropFirst() { try read(String(part)) }
    }

    private mutating func read(_ option: String) throws {
        if let mode = ResizeMode(rawValue: option) {
            self.mode = mode
        } else if option == "up" {
            allowsEnlarging = true
        } else if option == "lossless" {
            encodeOptions.isLossless = true
        } else if option.hasPrefix("q"), let quality = Int(option.dropFirst()) {
            encodeOptions.quality = try parseQuality("\(quality)")
        } else if option.hasPrefix("ssim") {
            encodeOptions.targetSSIM = try parseTargetSSIM(String(option.dropFirst(4)))
        } else if let codec = builtInCodecs.codec(named: option), codec.encoder != nil {
            format = codec.format.name
        } else {
            throw ValidationError(
                "invalid option of an output: \(option); use fit, fill, stretch, up, lossless, q1 to "
                    + "q100, ssim0.5 to ssim0.999, or a format that can be written")
        }
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Returns the path of the file of a source.
    ///
    /// - Parameters:
    ///   - key: the name of the source in the batch, with folders.
    ///   - folder: the folder of the batch.
    /// - Returns: `FOLDER/NAME/KEY.EXTENSION`.
    func path(of key: String, in folder: String) -> String {
        "\(folder)/\(name)/\(key).\(fileExtension)"
    }

    /// The extension of its files.
    package var fileExtension: String {
        builtInCodecs.codec(named: format)?.format.extensions.first ?? format
    }

    /// Returns the destination of its images.
    ///
    /// - Throws: `CodecError` if the format cannot be written.
    func destination(_ codecs: CodecSet) throws(CodecError) -> ImageDestination {
        try ImageDestination(format: format, codecs: codecs, options: encodeOptions)
    }

    /// Returns the options with which a source is decoded.
    ///
    /// - Parameters:
    ///   - acceptsYCbCr: whether all outputs of the source can be encoded from planes.
    ///   - isStrict: whether truncated files are refused.
    /// - Returns: the options; a smaller output shares the decode of a larger one.
    func decodeOptions(acceptsYCbCr: Bool, isStrict: Bool) -> DecodeOptions {
        var options = DecodeOptions(box: size.box, mode: mode)
        options.allowsEnlarging = allowsEnlarging
        options.acceptsTruncated = !isStrict
        options.acceptsYCbCr = acceptsYCbCr
        options.sharesDecode = true
        return options
    }
}
