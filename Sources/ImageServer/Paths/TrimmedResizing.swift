// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import EncodedImages
internal import ImageLoading
internal import Pixels

/// Removes borders of one colour, then resizes what remains.
struct TrimmedResizing: ImageProcessor {
    /// The key of imgproxy for transparent borders.
    private static let transparencyKey = SRGBColor(red: 1, green: 0, blue: 1)

    let trimming: Trimming
    let options: RenditionOptions
    let maximumSide: Int

    var identity: String { "trimmed(\(options.text))" }

    func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer {
        var trimming = trimming
        if trimming.color == Self.transparencyKey, image.format.hasAlpha {
            trimming.color = SRGBColor(red: 0, green: 0, blue: 0, alpha: 0)
        }
        var result = try Effect.trim(trimming).process(image, cancellation)
        let decode: DecodeOptions
        var window: RenditionOptions.SmartWindow?
        do throws(ServerError) {
            decode = try options.resizing(original: result.size, maximumSide: maximumSide)
            window = try options.smartWindow(of: result.size, maximumSide: maximumSide)
        } catch {
            throw .unsupported(feature: "\(error)")
        }
        let geometry = decode.geometry(of: result.size)
        if geometry.size != result.size || geometry.region != SampleRegion(result.size) {
            result = result.converted(to: result.format.withIntegerSamples)
                .resized(geometry.region, to: geometry.size)
        }
        // Regions of the original do not lie where they were after trimming.
        for processor in window?.processors(original: nil, keeping: []) ?? [] {
            result = try processor.process(result, cancellation)
        }
        return result
    }
}

extension RenditionOptions.SmartWindow {
    /// Returns the operations on the decoded image.
    ///
    /// - Parameters:
    ///   - original: the size of the original in pixels.
    ///   - parts: the parts that are kept if possible, in fractions of the original.
    /// - Returns: the operations, in order.
    func processors(
        original: PixelSize?, keeping parts: [SampleRegion]
    ) -> [any ImageProcessor] {
        var parts = parts
        if let original, let region = decodeOptions.region {
            let (width, height) = (Double(region.width), Double(region.height))
            parts = parts.map { part in
                SampleRegion(
                    x: (part.x * Double(original.width) - Double(region.x)) / width,
                    y: (part.y * Double(original.height) - Double(region.y)) / height,
                    width: part.width * Double(original.width) / width,
                    height: part.height * Double(original.height) / height)
            }
            .filter { $0.x < 1 && $0.y < 1 && $0.x + $0.width > 0 && $0.y + $0.height > 0 }
        }
        var processors: [any ImageProcessor] = [SmartCrop(to: crop, keeping: parts)]
        if result != crop { processors.append(ImageOperation.resize(result, .stretch)) }
        return processors
    }
}
