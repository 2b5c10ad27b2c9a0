// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// The names and places of the sprites in a sheet.
public struct SpriteIndex: Hashable, Sendable, Codable {
    /// A named part of the sheet.
    public struct Sprite: Hashable, Sendable {
        /// The name, compared byte by byte.
        @ComparedByBytes public var name: String
        /// The place in the sheet, in pixels.
        public var place: PixelRect

        /// Creates a sprite.
        public init(_ name: String, _ place: PixelRect) {
            self.name = name
            self.place = place
        }
    }

    /// The size of the sheet in pixels.
    public var size: PixelSize
    /// The sprites in their order.
    public var sprites: [Sprite]

    /// Creates an index.
    public init(size: PixelSize, sprites: [Sprite]) {
        self.size = size
        self.sprites = sprites
    }

    /// Returns the place of the first sprite with a name, `nil` if no sprite has it; linear time.
    public subscript(name: String) -> PixelRect? {
        sprites.first { $0.name.hasSameBytes(as: name) }?.place
    }

    private enum Key: String, CodingKey {
        case width, height, sprites
    }

    /// Decodes a value; the JSON form is that of ``SpriteIndex/json``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        size = PixelSize(
            width: try values.decode(Int.self, forKey: .width),
            height: try values.decode(Int.self, forKey: .height))
        sprites = try values.decode([Sprite].self, forKey: .sprites)
    }

    /// Encodes the value in the form of ``SpriteIndex/json``.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(size.width, forKey: .width)
        try values.encode(size.height, forKey: .height)
        try values.encode(sprites, forKey: .sprites)
    }
}

extension SpriteIndex.Sprite: Codable {
    private enum Key: String, CodingKey {
        case name, x, y, width, height
    }

    /// Decodes a value; the JSON form is that of ``SpriteIndex/json``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        name = try values.decode(String.self, forKey: .name)
        place = PixelRect(
            x: try values.decode(Int.self, forKey: .x), y: try values.decode(Int.self, forKey: .y),
            width: try values.decode(Int.self, forKey: .width),
            height: try values.decode(Int.self, forKey: .height))
    }

    /// Encodes the value in the form of ``SpriteIndex/json``.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(name, forKey: .name)
        try values.encode(place.x, forKey: .x)
        try values.encode(place.y, forKey: .y)
        try values.encode(place.width, forKey: .width)
        try values.encode(place.height, forKey: .height)
    }
}
