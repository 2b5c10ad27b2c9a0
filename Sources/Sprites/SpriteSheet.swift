// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// Many small pictures in one, which is loaded and decoded at once.
public struct SpriteSheet: Sendable {
    public let image: PixelBuffer
    public let index: SpriteIndex

    /// Joins a decoded picture to what is known of it.
    ///
    /// - Parameters:
    ///   - image: the large picture, at the size that the index says.
    ///   - index: which small picture lies where; none may reach out of the large one.
    /// - Throws: `CodecError/malformed(reason:offset:)` if the two do not belong together.
    public init(_ image: PixelBuffer, _ index: SpriteIndex) throws(CodecError) {
        let whole = PixelRect(image.size)
        guard image.size == index.size,
            index.sprites.allSatisfy({
                $0.place.x >= 0 && $0.place.y >= 0 && !$0.place.isEmpty
                    && $0.place.width <= whole.width && $0.place.height <= whole.height
                    && whole.contains($0.place)
            })
        else { throw .malformed(reason: "an index of another picture", offset: 0) }
        self.image = image.format.planeCount == 1 ? image : image.converted(to: .rgb8)
        self.index = index
    }

    /// Makes a sheet of pictures.
    ///
    /// It is grey or RGB if all of them are, and else premultiplied RGBA; what lies between them is
    /// black or clear. All are taken to have the colour profile of the first.
    ///
    /// - Parameters:
    ///   - sprites: the pictures with their names; at least one.
    ///   - arrangement: how places are given out.
    ///   - padding: empty pixels between two pictures.
    ///   - limits: the size and the memory that the sheet may take.
    /// - Throws: `CodecError/limitExceeded(_:needed:allowed:)` before memory is taken.
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

    /// The first sprite of a name, as a picture of its own.
    ///
    /// - Returns: a copy of its pixels, or `nil` if there is none of that name.
    public func sprite(_ name: String) -> PixelBuffer? { index[name].map(image.cut) }

    private static func format(_ formats: [PixelFormat]) -> PixelFormat {
        let kinds = Set(formats.map { $0.with8BitChannels })
        if kinds == [.gray8] { return .gray8 }
        return kinds.contains { $0.hasAlpha } ? .rgba8 : .rgb8
    }
}

/// Puts pictures into a sheet one by one, so that only one of them must be in memory.
public struct SpriteSheetWriter: ~Copyable {
    public let layout: SpriteLayout
    private var buffer: MutablePixelBuffer

    /// - Parameters:
    ///   - layout: where the pictures go.
    ///   - format: what the sheet is made of; a format of one plane.
    ///   - colorProfile: which colours the numbers stand for.
    ///   - limits: the memory that the sheet may take.
    /// - Throws: `CodecError/limitExceeded(_:needed:allowed:)` before memory is taken.
    public init(
        _ layout: SpriteLayout, _ format: PixelFormat, _ colorProfile: ColorProfile = .sRGB,
        limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        precondition(format.planeCount == 1, "sprites of \(format) do not lie between pixels")
        try limits.check(.memoryByteCount, PixelBuffer.byteCount(of: layout.size, format))
        self.layout = layout
        buffer = MutablePixelBuffer(size: layout.size, format: format, colorProfile: colorProfile)
    }

    /// Writes a picture to its place.
    ///
    /// - Parameters:
    ///   - image: of the size that the layout has for it; converted to the sheet's format.
    ///   - number: which of the layout's places it goes to.
    public mutating func write(_ image: PixelBuffer, at number: Int) {
        let place = layout.places[number]
        precondition(image.size == place.size, "a sprite of \(image.size) where \(place.size) fits")
        buffer.copy(image.converted(to: buffer.format), to: (place.x, place.y))
    }

    public consuming func finish() -> PixelBuffer { buffer.finish() }
}
