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
        fileprivate let images: [(identity: FileIdentity, options: DecodeOptions)]
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
            images: readable.map { (identities[$0], options) }, layout: layout,
            index: SpriteIndex(
                size: layout.size,
                sprites: zip(readable, layout.places).map {
                    SpriteIndex.Sprite(names[$0], $1)
                }))
    }

    /// Lays out the covers of folders in rows of ten squares.
    ///
    /// - Parameters:
    ///   - covers: at most four images for each folder.
    ///   - side: the side of a square in pixels, at least 2.
    /// - Returns: the plan; `nil` if no folder has an image.
    /// - Throws: ``ServerError`` or `CodecError` if the sheet exceeds the limits.
    func covers(_ covers: [[FileIdentity]], side: Int) throws -> Plan? {
        var images: [(identity: FileIdentity, options: DecodeOptions)] = []
        var places: [PixelRect] = []
        for (index, identities) in covers.enumerated() {
            let (x, y) = (
                index % Self.coverColumnCount * side, index / Self.coverColumnCount * side
            )
            for (identity, part) in zip(identities, Self.mosaic(identities.count, side: side)) {
                var options = RenditionOptions()
                options.width = part.width
                options.height = part.height
                options.mode = .fill
                options.allowsEnlarging = true
                images.append(
                    (identity, try options.decodeOptions(original: nil, maximumSide: maximumSide)))
                places.append(
                    PixelRect(
                        x: x + part.x, y: y + part.y, width: part.width, height: part.height))
            }
        }
        guard !images.isEmpty else { return nil }
        let rowCount = (covers.count + Self.coverColumnCount - 1) / Self.coverColumnCount
        let size = PixelSize(width: Self.coverColumnCount * side, height: rowCount * side)
        return Plan(
            images: images,
            layout: try SpriteLayout(places: places, size: size, limits: pipeline.limits),
            index: SpriteIndex(size: size, sprites: []))
    }

    /// The number of covers in a row.
    private static let coverColumnCount = 10

    /// The parts of a square that one to four images take.
    private static func mosaic(_ count: Int, side: Int) -> [PixelRect] {
        let (half, rest) = (side / 2, side - side / 2)
        let right = { PixelRect(x: half, y: $0, width: rest, height: $1) }
        let quarters = [right(0, half), right(half, rest)]
        switch count {
        case 1: return [PixelRect(x: 0, y: 0, width: side, height: side)]
        case 2: return [PixelRect(x: 0, y: 0, width: half, height: side), right(0, side)]
        case 3: return [PixelRect(x: 0, y: 0, width: half, height: side)] + quarters
        default:
            return [
                PixelRect(x: 0, y: 0, width: half, height: half), quarters[0],
                PixelRect(x: 0, y: half, width: half, height: rest), quarters[1],
            ]
        }
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
            for (number, image) in plan.images.enumerated() {
                if number >= Self.concurrentImageCount, let sprite = try await group.next() {
                    sprite.write(to: &writer)
                }
                var request = ImageRequest(
                    file: image.identity, options: image.options, priority: .prefetch)
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
