// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
internal import ImageCodecs
internal import Pixels

/// Makes the thumbnails of a file that file managers display.
///
/// - SeeAlso: Thumbnail Managing Standard, “Thumbnail creation”.
package struct ThumbnailMaker: Sendable {
    private let codecs: CodecSet

    package init(_ codecs: CodecSet) { self.codecs = codecs }

    /// Decodes an image once and encodes it at several sizes.
    ///
    /// Smaller images are not enlarged.
    ///
    /// - Parameters:
    ///   - file: The original.
    ///   - sides: The maximum length of the longer side of each thumbnail, in pixels; at least one.
    ///   - cancellation: Cancels the work from another thread.
    /// - Returns: For each of `sides`, a PNG file with the text chunks of the standard.
    /// - Throws: ``CodecError``.
    package func thumbnails(
        of file: borrowing ThumbnailedFile, sides: [Int], cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> [[UInt8]] {
        let source = try file.source(codecs)
        let largest = DecodeOptions(maximumSide: sides.max() ?? 1)
        let image = try source.decodedImage(largest, cancellation: cancellation).image
        var text = file.identity
        text.append([
            ("Thumb::Mimetype", source.format.mediaType),
            ("Thumb::Image::Width", "\(source.pixelSize.width)"),
            ("Thumb::Image::Height", "\(source.pixelSize.height)"),
        ])
        var files: [[UInt8]] = []
        for side in sides {
            let size = source.resultSize(DecodeOptions(maximumSide: side))
            // An embedded thumbnail or a scalable image may round its sides differently.
            let isLargest = side >= sides.max() ?? 1 || size == image.size
            files.append(
                try Self.png(
                    isLargest ? image : image.resized(SampleRegion(image.size), to: size), text))
        }
        return files
    }

    /// Returns the entry for a file that cannot be read: an image of one transparent pixel with the
    /// identity of the file.
    func failureEntry(for file: borrowing ThumbnailedFile) throws(CodecError) -> [UInt8] {
        let pixel = MutablePixelBuffer(
            size: PixelSize(width: 1, height: 1), format: .rgba8, colorProfile: .sRGB)
        return try Self.png(pixel.finish(), file.identity)
    }

    private static func png(
        _ image: PixelBuffer, _ text: ThumbnailText
    ) throws(CodecError) -> [UInt8] {
        var options = EncodeOptions()
        options.compressionLevel = 1
        var text = text
        text.append([("Software", "Calotype")])
        let file = try ImageDestination(format: "png", codecs: builtInCodecs, options: options)
            .encode(image)
        return text.added(toPNG: file)
    }
}
