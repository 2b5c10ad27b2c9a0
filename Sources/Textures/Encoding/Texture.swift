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
    /// Whether files state that colours are linear instead of sRGB; the blocks are the same.
    public var isLinear = false

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
    /// - Precondition: the format is PVRTC or one that ``BlockEncoder`` encodes.
    public func pvr3File() -> [UInt8] {
        let numbers = numbers
        var file = PVRReader.magic3
        let number = numbers.pvr + (format.isPVRTC && alpha != .opaque ? 1 : 0)
        file.appendLittleEndian32(
            alpha == .premultiplied ? 2 : 0, number, 0, isSRGB ? 1 : 0, 0, size.height, size.width,
            1, 1, 1, levels.count, 0)
        return file + levels.joined()
    }

    /// The numbers of the format in PVR 3 and Vulkan, and that of its model in descriptors of KTX 2.
    private var numbers: (pvr: Int, vulkan: Int, model: Int, isSRGB: Bool) {
        switch format {
        case .pvrtc2: (0, 1_000_054_004, 164, true)
        case .pvrtc4: (2, 1_000_054_005, 164, true)
        case .bc1: (7, 132, 128, true)
        case .bc3: (11, 138, 130, true)
        case .bc4(isSigned: false): (12, 139, 131, false)
        case .bc5(isSigned: false): (13, 141, 132, false)
        case .bc7: (15, 146, 134, true)
        // Vulkan has no ETC1, which is a part of ETC2.
        case .etc1: (6, 148, 161, true)
        case .etc2: (22, 148, 161, true)
        case .etc2Alpha: (23, 152, 161, true)
        case .eacR(isSigned: false): (25, 153, 161, false)
        case .eacRG(isSigned: false): (26, 155, 161, false)
        default: preconditionFailure("\(format.name) is not written")
        }
    }

    private var isSRGB: Bool { numbers.isSRGB && !isLinear }

    /// The number of the format in Vulkan, where that of a linear format precedes the one in sRGB.
    private var vulkanFormat: Int {
        let numbers = numbers
        guard numbers.isSRGB, isLinear else { return numbers.vulkan }
        return numbers.vulkan - (format.isPVRTC ? 4 : 1)
    }

    /// Returns a KTX file of version 2, in sRGB unless it is linear; one or two channels are linear.
    ///
    /// - Precondition: the format is PVRTC or one that ``BlockEncoder`` encodes.
    public func ktx2File() -> [UInt8] {
        let descriptor = ktx2Descriptor
        var values: [UInt8] = []
        var pairs = [("KTXorientation", "rd"), ("KTXwriter", "calotype")]
        // The format has alpha in any case.
        if alpha == .opaque && format.channelCount == 4 {
            pairs.insert(("KTXswizzle", "rgb1"), at: 1)
        }
        for (key, value) in pairs {
            let bytes = Array("\(key)\0\(value)\0".utf8)
            values.appendLittleEndian32(bytes.count)
            values += bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
        }
        let start = KTX2Reader.headerByteCount + levels.count * KTX2Reader.levelEntryByteCount
        var file = KTX2Reader.magic
        file.appendLittleEndian32(
            vulkanFormat, 1, size.width, size.height, 0, 0, 1, levels.count, 0)
        file.appendLittleEndian32(
            start, descriptor.count, start + descriptor.count, values.count, 0, 0, 0, 0)
        // Levels are stored smallest first, each at a multiple of its block.
        let block = format.blockByteCount
        var offset = start + descriptor.count + values.count
        var offsets: [Int] = []
        for level in levels.reversed() {
            offset = (offset + block - 1) / block * block
            offsets.append(offset)
            offset += level.count
        }
        for (level, offset) in zip(levels, offsets.reversed()) {
            file.appendLittleEndian32(offset, 0, level.count, 0, level.count, 0)
        }
        file += descriptor + values
        for (level, offset) in zip(levels.reversed(), offsets) {
            file += [UInt8](repeating: 0, count: offset - file.count) + level
        }
        return file
    }

    /// The data format descriptor of a KTX file, with a sample for each part of a block.
    private var ktx2Descriptor: [UInt8] {
        let channels: [Int] =
            switch format {
            // Alpha, then colour.
            case .bc3: [15, 0]
            case .etc2Alpha: [15, 2]
            case .etc1, .etc2: [2]
            case .bc5, .eacRG: [0, 1]
            default: [0]
            }
        let byteCount = 24 + 16 * channels.count
        let (model, primaries, transfer) = (numbers.model, 1, isSRGB ? 2 : 1)
        let flags = alpha == .premultiplied ? 1 : 0
        let block = format.blockSize
        var bytes: [UInt8] = []
        bytes.appendLittleEndian32(
            4 + byteCount, 0, 2 | byteCount << 16,
            model | primaries << 8 | transfer << 16 | flags << 24,
            (block.width - 1) | (block.height - 1) << 8, format.blockByteCount, 0)
        let bitCount = format.blockByteCount * 8 / channels.count
        for (number, channel) in channels.enumerated() {
            // The offset and the number of bits less 1; alpha is linear in any case.
            let isLinear = channel == 15 && isSRGB ? 0x10 : 0
            bytes.appendLittleEndian32(
                number * bitCount | (bitCount - 1) << 16 | (channel | isLinear) << 24, 0, 0,
                0xFFFF_FFFF)
        }
        return bytes
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
