// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
public import Pixels

/// A texture of one face and one layer, encoded in memory.
public struct Texture: Sendable {
    /// How the texels are stored.
    public var format: TextureFormat
    /// The size of level 0 in pixels.
    public var size: PixelSize
    /// How alpha relates to the colours.
    public var alpha: TextureHeader.Alpha
    /// The blocks of each mip level, largest first.
    public var levels: [[UInt8]]

    /// A texture of these levels.
    ///
    /// - Parameters:
    ///   - format: how the texels are stored.
    ///   - size: the size of level 0 in pixels.
    ///   - alpha: how alpha relates to the colours.
    ///   - levels: the blocks of each mip level, largest first.
    public init(
        _ format: TextureFormat, _ size: PixelSize, _ alpha: TextureHeader.Alpha,
        levels: [[UInt8]]
    ) {
        self.format = format
        self.size = size
        self.alpha = alpha
        self.levels = levels
    }

    /// Returns a PVR file of version 3.
    ///
    /// - Precondition: the format is PVRTC, the only one that is encoded.
    public func pvr3File() -> [UInt8] {
        precondition(format.isPVRTC, "\(format.name) is not written")
        var file = PVRReader.magic3
        let number = (format == .pvrtc4 ? 2 : 0) + (alpha == .opaque ? 0 : 1)
        let isSRGB = 1
        file.appendLittleEndian32(
            alpha == .premultiplied ? 2 : 0, number, 0, isSRGB, 0, size.height, size.width, 1, 1,
            1, levels.count, 0)
        return file + levels.joined()
    }

    /// Returns a PVR file of version 2, which cannot state how alpha relates to the colours.
    ///
    /// - Precondition: the format is PVRTC, the only one that is encoded.
    public func pvr2File() -> [UInt8] {
        precondition(format.isPVRTC, "\(format.name) is not written")
        var file: [UInt8] = []
        let hasAlpha = alpha == .opaque ? 0 : 1
        let flags =
            (format == .pvrtc4 ? 0x19 : 0x18) | (levels.count > 1 ? 0x100 : 0) | hasAlpha << 15
        file.appendLittleEndian32(
            52, size.height, size.width, levels.count - 1, flags,
            levels.reduce(0) { $0 + $1.count }, format == .pvrtc4 ? 4 : 2, 0, 0, 0, hasAlpha)
        file += PVRReader.magic2
        file.appendLittleEndian32(1)
        return file + levels.joined()
    }
}
