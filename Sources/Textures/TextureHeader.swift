// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// The contents of a texture file without its texels: what they are and where they lie.
public struct TextureHeader: Hashable, Sendable {
    /// A file format for textures.
    public enum Container: String, Hashable, Sendable, CaseIterable {
        /// PVR of version 2, and of version 1 with its shorter header.
        case pvr2 = "PVR 2"
        /// PVR of version 3.
        case pvr3 = "PVR 3"
        /// KTX of version 1.
        case ktx = "KTX 1"
        /// KTX of version 2.
        case ktx2 = "KTX 2"
        /// DirectDraw Surface.
        case dds = "DDS"
    }

    /// How alpha relates to the colours.
    public enum Alpha: String, Hashable, Sendable {
        /// The texels are opaque.
        case opaque
        /// The colours are not multiplied by alpha.
        case straight
        /// The colours are multiplied by alpha.
        case premultiplied
    }

    /// How the bytes of levels are compressed once more.
    public enum Supercompression: String, Hashable, Sendable {
        /// Each level is a frame of Zstandard.
        case zstandard = "Zstandard"
    }

    /// The file format.
    public var container: Container
    /// How the texels are stored.
    public var format: TextureFormat
    /// The size of level 0 in pixels.
    public var size: PixelSize
    /// How alpha relates to the colours.
    public var alpha: Alpha
    /// Whether the samples are stated to be linear light; otherwise they are taken as sRGB.
    public var isLinear: Bool
    /// Whether rows are stored from the bottom.
    public var isFlipped = false
    /// The number of mip levels, at least 1.
    public var levelCount = 1
    /// The number of faces: 6 for a cube map, otherwise 1.
    public var faceCount = 1
    /// The number of layers of an array, at least 1.
    public var layerCount = 1
    /// How the bytes of levels are compressed once more; `nil` if they are blocks.
    public var supercompression: Supercompression?
    /// The bytes of the first face of the first layer of each level, largest first; with
    /// ``supercompression``, the compressed bytes of all faces and layers.
    public var levels: [Range<Int>] = []
    /// The number of bytes of all levels of a face, in files that store them together; `nil` in files that
    /// store all faces and layers of a level together.
    private var chainByteCount: Int?

    init(_ container: Container, _ format: TextureFormat, _ size: PixelSize, _ alpha: Alpha) {
        self.container = container
        self.format = format
        self.size = size
        isLinear = format.isFloat
        self.alpha = format.channelCount == 4 ? alpha : .opaque
    }

    /// Reads the header of a texture file.
    ///
    /// - Parameter file: the whole file.
    /// - Throws: `CodecError` for another format, for one that is not supported, by its name, and for a
    ///   file that violates the rules of its format.
    public init(_ file: Span<UInt8>) throws(CodecError) {
        if PVRReader.recognizes(file) {
            self = try PVRReader.header(of: file)
        } else if KTXReader.recognizes(file) {
            self = try KTXReader.header(of: file)
        } else if KTX2Reader.recognizes(file) {
            self = try KTX2Reader.header(of: file)
        } else if DDSReader.recognizes(file) {
            self = try DDSReader.header(of: file)
        } else {
            throw .unknownFormat
        }
    }

    /// Returns the size of a mip level in pixels.
    public func size(ofLevel level: Int) -> PixelSize {
        PixelSize(width: max(1, size.width >> level), height: max(1, size.height >> level))
    }

    /// Returns the number of bytes of one face of one layer of a level.
    public func byteCount(ofLevel level: Int) -> Int { format.byteCount(size(ofLevel: level)) }

    /// The number of images that the file contains: the mip levels of each face of each layer.
    public var imageCount: Int { layerCount * faceCount * levelCount }

    /// Returns the bytes of one face of one layer of a level.
    ///
    /// - Parameters:
    ///   - level: the number of the mip level, less than ``levelCount``.
    ///   - surface: the number of the layer times ``faceCount`` plus that of the face.
    /// - Returns: the range in the file; with ``supercompression``, in the decompressed level.
    public func bytes(ofLevel level: Int, surface: Int) -> Range<Int> {
        let byteCount = byteCount(ofLevel: level)
        guard supercompression == nil else {
            return surface * byteCount..<(surface + 1) * byteCount
        }
        let offset = surface * (chainByteCount ?? byteCount)
        return levels[level].lowerBound + offset..<levels[level].upperBound + offset
    }

    /// Checks the numbers of the header before anything is computed from them.
    func check() throws(CodecError) {
        let side = max(size.width, size.height)
        guard !size.isEmpty, side <= 1 << 16 else {
            throw .malformed(reason: "invalid texture size: \(size)", offset: 0)
        }
        guard levelCount >= 1, levelCount <= Int.bitWidth - side.leadingZeroBitCount else {
            throw .malformed(reason: "\(levelCount) mip levels of \(size)", offset: 0)
        }
        guard faceCount == 1 || faceCount == 6, (1...1 << 16).contains(layerCount) else {
            throw .malformed(reason: "\(faceCount) faces, \(layerCount) layers", offset: 0)
        }
        let arePowersOfTwo = [size.width, size.height].allSatisfy { $0 & ($0 - 1) == 0 }
        guard !format.isPVRTC || arePowersOfTwo else {
            throw .malformed(reason: "PVRTC sides are powers of two, not \(size)", offset: 0)
        }
    }

    /// Places the levels of a file that stores them one after the other without headers.
    ///
    /// - Parameters:
    ///   - start: the offset of the first byte.
    ///   - isLevelMajor: whether all layers of a level precede the next level.
    mutating func placeLevels(from start: Int, isLevelMajor: Bool) {
        levels = []
        var offset = start
        for level in 0..<levelCount {
            let byteCount = byteCount(ofLevel: level)
            levels.append(offset..<offset + byteCount)
            offset += byteCount * (isLevelMajor ? faceCount * layerCount : 1)
        }
        chainByteCount = isLevelMajor ? nil : offset - start
    }
}
