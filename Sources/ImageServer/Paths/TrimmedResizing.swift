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
        for processor in window?.processors ?? [] {
            result = try processor.process(result, cancellation)
        }
        return result
    }
}

extension RenditionOptions.SmartWindow {
    /// The operations on the decoded image.
    var processors: [any ImageProcessor] {
        var processors: [any ImageProcessor] = [SmartCrop(to: crop)]
        if result != crop { processors.append(ImageOperation.resize(result, .stretch)) }
        return processors
    }
}
