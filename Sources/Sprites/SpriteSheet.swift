// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// Many small images in one, which is loaded and decoded at once.
public struct SpriteSheet: Sendable {
    /// The pixels of the sheet.
    public let image: PixelBuffer
    /// The names and places of the sprites.
    public let index: SpriteIndex

    /// Creates a sheet from a decoded image and its index.
    ///
    /// - Parameters:
    ///   - image: the sheet, with the size in the index.
    ///   - index: the names and places; all within the sheet.
    /// - Throws: `CodecError/malformed(reason:offset:)` if image and index do not match.
    public init(_ image: PixelBuffer, _ index: SpriteIndex) throws(CodecError) {
        let whole = PixelRect(image.size)
        guard image.size == index.size,
            index.sprites.allSatisfy({
                $0.place.x >= 0 && $0.place.y >= 0 && !$0.place.isEmpty
                    && $0.place.width <= whole.width && $0.place.height <= whole.height
                    && whole.contains($0.place)
            })
        else { throw .malformed(reason: "the index does not match the image", offset: 0) }
        self.image = image.format.planeCount == 1 ? image : image.converted(to: .rgb8)
        self.index = index
    }

    /// Packs images into a sheet.
    ///
    /// The sheet is grey or RGB if all images are, else premultiplied RGBA; gaps are black or
    /// transparent. All images are assumed to have the colour profile of the first.
    ///
    /// - Parameters:
    ///   - sprites: the images with their names; at least one.
    ///   - arrangement: how images are placed.
    ///   - padding: the empty pixels between two images.
    ///   - limits: the maximum size and memory of the sheet.
    /// - Throws: `CodecError/limitExceeded(_:needed:allowed:)` before memory is allocated.
    public init(
        _ sprites: [(name: String, image: PixelBuffer)],
        _ arrangement: SpriteLayout.Arrangement = .packed, padding: Int = 0,
        limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        let layout = try SpriteLayout(
            sprites.map(\.image.size), arrangement, padding: padding, limits: limits)
        var writer = try SpriteSheetWriter(
            layout, Self.format(sprites.map(\.image.format)), sprites[0].image.colorProfile,
            limits: limits)
        for (number, sprite) in sprites.enumerated() { writer.write(sprite.image, at: number) }
        image = writer.finish()
        index = SpriteIndex(
            size: layout.size,
            sprites: zip(sprites, layout.places).map { SpriteIndex.Sprite($0.name, $1) })
    }

    /// Copies the first sprite with a name.
    ///
    /// - Returns: the image, `nil` if no sprite has the name.
    public func sprite(_ name: String) -> PixelBuffer? { index[name].map(image.cut) }

    private static func format(_ formats: [PixelFormat]) -> PixelFormat {
        let kinds = Set(formats.map { $0.with8BitChannels })
        if kinds == [.gray8] { return .gray8 }
        return kinds.contains { $0.hasAlpha } ? .rgba8 : .rgb8
    }
}

/// Writes images into a sheet one by one, so that only one of them must be in memory.
public struct SpriteSheetWriter: ~Copyable {
    /// The places of the images.
    public let layout: SpriteLayout
    private var buffer: MutablePixelBuffer

    /// Creates an empty sheet.
    ///
    /// - Parameters:
    ///   - layout: the places of the images.
    ///   - format: the pixel format of the sheet; it must have one plane.
    ///   - colorProfile: the colour profile of the sheet.
    ///   - limits: the maximum memory of the sheet.
    /// - Throws: `CodecError/limitExceeded(_:needed:allowed:)` before memory is allocated.
    public init(
        _ layout: SpriteLayout, _ format: PixelFormat, _ colorProfile: ColorProfile = .sRGB,
        limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        precondition(format.planeCount == 1, "\(format) has several planes; use a format with one")
        try limits.check(.memoryByteCount, PixelBuffer.byteCount(of: layout.size, format))
        self.layout = layout
        buffer = MutablePixelBuffer(size: layout.size, format: format, colorProfile: colorProfile)
    }

    /// Writes an image to its place.
    ///
    /// - Parameters:
    ///   - image: an image with the size of the place; it is converted to the format of the sheet.
    ///   - number: the index of the place in the layout.
    public mutating func write(_ image: PixelBuffer, at number: Int) {
        let place = layout.places[number]
        precondition(
            image.size == place.size, "the sprite is \(image.size), its place \(place.size)")
        buffer.copy(image.converted(to: buffer.format), to: (place.x, place.y))
    }

    /// Returns the sheet.
    public consuming func finish() -> PixelBuffer { buffer.finish() }
}
