// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Sprites
internal import EncodedImages
internal import ImageLoading
internal import Pixels

/// Lays out and makes sprite sheets.
struct SpriteSheets: Sendable {
    /// A sheet that has been laid out.
    struct Plan: Sendable {
        fileprivate let identities: [FileIdentity]
        fileprivate let options: DecodeOptions
        fileprivate let layout: SpriteLayout
        /// The names and positions of the images.
        let index: SpriteIndex
    }

    /// The number of images decoded at once, which limits the memory in addition to the sheet.
    private static let concurrentImageCount = 8

    let pipeline: ImagePipeline
    /// The part of the pipeline's memory budget that sheets may use.
    let memory: MemoryBudget
    /// The names of encodable formats, by their names in paths.
    let formats: [String: String]
    /// The largest width or height of an image in pixels.
    let maximumSide: Int

    /// Lays out a sheet by the sizes in the headers; omits unreadable images.
    ///
    /// - Throws: ``ServerError/notFound`` if all images are unreadable, or
    ///   ``ImageLoading/LoadError``.
    func plan(
        _ request: SpriteRequest, _ names: [String], _ identities: [FileIdentity]
    ) async throws -> Plan {
        let facts = await pipeline.facts(for: identities)
        let readable = facts.indices.filter { (try? facts[$0].get()) != nil }
        guard !readable.isEmpty else { throw ServerError.notFound }
        let options = try request.options.decodeOptions(original: nil, maximumSide: maximumSide)
        let sizes = readable.map { index in
            options.geometry(
                of: (try? facts[index].get().pixelSize) ?? PixelSize(width: 1, height: 1)
            ).size
        }
        let layout = try SpriteLayout(
            sizes, request.arrangement, padding: request.padding, limits: pipeline.limits)
        return Plan(
            identities: readable.map { identities[$0] }, options: options, layout: layout,
            index: SpriteIndex(
                size: layout.size,
                sprites: zip(readable, layout.places).map {
                    SpriteIndex.Sprite(names[$0], $1)
                }))
    }

    /// Makes a sheet; an image that cannot be decoded leaves its place empty.
    ///
    /// - Returns: the encoded sheet, and its media type.
    /// - Throws: ``ImageLoading/LoadError``.
    func sheet(
        _ plan: Plan, _ options: RenditionOptions
    ) async throws -> (bytes: [UInt8], mediaType: String) {
        var format = options.format ?? "jpeg"
        if formats[format] == nil { format = "png" }
        let pixels: PixelFormat = format == "jpeg" ? .rgb8 : .rgba8
        let byteCount = PixelBuffer.byteCount(of: plan.layout.size, pixels)
        // First the share of all sheets, so that their images always find memory for decoding.
        let share = try await memory.reserve(byteCount)
        let reservation = try await pipeline.budget.reserve(byteCount)
        defer {
            reservation.release()
            share.release()
        }
        let image = try await draw(plan, pixels)
        let destination = try ImageDestination(
            format: format, codecs: pipeline.codecs, options: options.encodeOptions)
        let bytes = try await pipeline.encode(image, as: destination)
        return (bytes, destination.format.mediaType)
    }

    private func draw(_ plan: Plan, _ pixels: PixelFormat) async throws -> PixelBuffer {
        var writer = try SpriteSheetWriter(plan.layout, pixels, limits: pipeline.limits)
        try await withThrowingTaskGroup(of: Sprite.self) { group in
            for (number, identity) in plan.identities.enumerated() {
                if number >= Self.concurrentImageCount, let sprite = try await group.next() {
                    sprite.write(to: &writer)
                }
                var request = ImageRequest(
                    file: identity, options: plan.options, priority: .prefetch)
                request.isReproducible = true
                group.addTask { [request] in try await self.sprite(number, request) }
            }
            while let sprite = try await group.next() { sprite.write(to: &writer) }
        }
        return writer.finish()
    }

    private func sprite(
        _ number: Int, _ request: ImageRequest
    ) async throws(LoadError) -> Sprite {
        do throws(LoadError) {
            return Sprite(number: number, image: try await pipeline.image(for: request).image)
        } catch {
            switch error {
            case .cancelled, .queueFull: throw error
            default: return Sprite(number: number, image: nil)
            }
        }
    }
}

/// One decoded image of a sheet; without pixels if it cannot be decoded.
private struct Sprite: Sendable {
    let number: Int
    let image: PixelBuffer?

    func write(to writer: inout SpriteSheetWriter) {
        guard let image, image.size == writer.layout.places[number].size else { return }
        writer.write(image, at: number)
    }
}
