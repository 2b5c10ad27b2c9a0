// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
package import ImageCommands
internal import ImageLoading
internal import Pixels
package import Placeholders

/// Makes placeholders of images that have not been decoded before, in about a millisecond for each.
///
/// A placeholder is made of the thumbnail that the camera embedded in the file, else of the thumbnail that
/// file managers share, else of the image itself if it is small, else of the start of the file: the first scan or
/// pass of an image that is stored in several, or the average colour of the top rows.
package struct PlaceholderMaker: Sendable {
    private let codecs: CodecSet
    private let limits: DecodeLimits
    private let shared: ThumbnailCache?

    /// The sizes of images that take about as long to decode as a thumbnail.
    private static let smallByteCount = 256 << 10
    private static let smallArea = 1 << 20
    /// The numbers of bytes at the start of a large file that are decoded: for some rows, and for the first scan.
    private static let startByteCounts = [64 << 10, 384 << 10]

    /// - Parameters:
    ///   - codecs: the known formats.
    ///   - limits: the limits on each file.
    ///   - shared: the thumbnails that file managers share, if there are any.
    package init(codecs: CodecSet, limits: DecodeLimits, shared: ThumbnailCache?) {
        self.codecs = codecs
        self.limits = limits
        self.shared = shared
    }

    /// Makes the placeholder of an image.
    ///
    /// - Parameters:
    ///   - name: the name of the image.
    ///   - folder: the folder that contains it.
    /// - Returns: `nil` if it takes longer to make, or the image is damaged.
    package func placeholder(of name: String, in folder: any ImageFolder) -> ThumbHash? {
        guard let bytes = try? folder.bytes(of: name, limits),
            let source = try? ImageSource(bytes, codecs: codecs, limits: limits)
        else { return nil }
        let original = folder.original(of: name)
        let image =
            embedded(source) ?? shared(original) ?? small(source) ?? start(of: bytes, source)
        guard let image, (try? bytes.checkUnchanged()) != nil else { return nil }
        return ThumbHash(image)
    }

    /// Decodes the embedded thumbnail, without the bars that fill it up to the aspect ratio of 4:3.
    ///
    /// A program that turned the image may have kept the thumbnail: its average colour is correct still.
    /// - SeeAlso: DCF 2.0, 3.3.5, thumbnails of 160x120 pixels.
    private func embedded(_ source: ImageSource) -> PixelBuffer? {
        guard let thumbnail = source.embeddedThumbnail else { return nil }
        let (stored, size) = (source.header.storedSize, thumbnail.pixelSize)
        let isTurned = (stored.width - stored.height) * (size.width - size.height) < 0
        let shape = isTurned ? PixelSize(width: stored.height, height: stored.width) : stored
        var options = DecodeOptions(maximumSide: ThumbHash.placeholderSide)
        options.region = Self.center(of: size, shape)
        options.quality = .fast
        options.acceptsTruncated = false
        guard let image = try? thumbnail.image(options) else { return nil }
        guard isTurned else { return image.turned(source.header.orientation) }
        return Self.average(of: image, SampleRegion(image.size), source.pixelSize)
    }

    /// Returns an image of the average colour of a region, with the aspect ratio of another image.
    private static func average(
        of image: PixelBuffer, _ region: SampleRegion, _ size: PixelSize
    ) -> PixelBuffer {
        let pixel = image.resized(region, to: PixelSize(width: 1, height: 1))
        // One colour needs few pixels, each of which takes time to encode.
        return pixel.resized(SampleRegion(pixel.size), to: Self.size(size, 8))
    }

    /// Returns the size of an image that fits into a square.
    private static func size(_ size: PixelSize, _ side: Int) -> PixelSize {
        ResizeGeometry(
            of: size, into: PixelSize(width: side, height: side), mode: .fit
        ).size
    }

    /// Decodes the start of a file.
    ///
    /// The top rows of an image are not an image of the rest, so that only their average colour is used.
    private func start(of bytes: EncodedBytes, _ source: ImageSource) -> PixelBuffer? {
        var options = DecodeOptions(maximumSide: Self.startSide)
        options.quality = .fast
        options.appliesOrientation = false
        var image = IncrementalImage(codecs: codecs, options: options, limits: limits)
        for limit in Self.startByteCounts {
            // A whole file is decoded elsewhere.
            let end = min(bytes.count / 2, limit)
            guard end > image.bytes.count,
                (try? image.append(bytes.copy(of: image.bytes.count..<end))) != nil
            else { return nil }
            guard let preview = try? image.preview() else { continue }
            switch preview.completeness {
            case .thumbnail: return nil
            case .pass:
                let small = preview.image.resized(
                    SampleRegion(preview.image.size),
                    to: Self.size(preview.image.size, ThumbHash.placeholderSide))
                return small.turned(source.header.orientation)
            case .rows(let count):
                let region = SampleRegion(
                    x: 0, y: 0, width: Double(preview.image.size.width),
                    height: Double(min(count, preview.image.size.height)))
                return Self.average(of: preview.image, region, source.pixelSize)
            }
        }
        return nil
    }

    /// The side of what is decoded of the start, in which some rows of a photograph of 3 MB are complete.
    private static let startSide = 256

    /// Returns the largest rectangle in the middle of a thumbnail with the aspect ratio of `shape`.
    private static func center(of size: PixelSize, _ shape: PixelSize) -> PixelRect {
        let width = min(size.width, max(1, size.height * shape.width / shape.height))
        let height = min(size.height, max(1, size.width * shape.height / shape.width))
        return PixelRect(
            x: (size.width - width) / 2, y: (size.height - height) / 2, width: width,
            height: height)
    }

    private func shared(_ original: ImageRequest.Source) -> PixelBuffer? {
        guard case .file(let path) = original, let thumbnail = shared?.thumbnail(of: path),
            let bytes = try? EncodedBytes(opening: thumbnail, limits: limits)
        else { return nil }
        return image(try? ImageSource(bytes, codecs: codecs, limits: limits))
    }

    private func small(_ source: ImageSource) -> PixelBuffer? {
        let isSmall =
            source.byteCount <= Self.smallByteCount && source.pixelSize.area <= Self.smallArea
        return isSmall ? image(source) : nil
    }

    private func image(_ source: ImageSource?) -> PixelBuffer? {
        var options = DecodeOptions(maximumSide: ThumbHash.placeholderSide)
        options.quality = .fast
        return try? source?.image(options)
    }
}
