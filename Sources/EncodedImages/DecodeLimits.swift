// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// What a picture may ask of the machine that decodes it.
///
/// What a header says is checked before memory is taken for it, what no header counts as it comes;
/// what a decoder delivers is checked again.
public struct DecodeLimits: Hashable, Sendable {
    /// Pixels of the picture as it is stored.
    public var maximumPixelCount = 400_000_000
    /// Pixels of its longer side.
    public var maximumSide = 65_535
    /// Bytes of the file.
    public var maximumByteCount = 1 << 30
    /// Bytes of one block of metadata, such as EXIF, after decompression.
    public var maximumMetadataByteCount = 16 << 20
    /// Bytes of a colour profile after decompression; those of presses have 3 million.
    ///
    /// A longer one is left out, and the picture is shown without it.
    public var maximumProfileByteCount = 16 << 20
    /// Frames of an animation.
    public var maximumFrameCount = 10_000
    /// Pixels of all frames of an animation together, each counted as large as the whole picture.
    public var maximumAnimationPixelCount = 20_000_000_000
    /// Passes over the picture in a progressive file; ordinary files have 10.
    public var maximumScanCount = 100
    /// Chunks of a PNG file; ordinary files have one for every 8,000 bytes.
    public var maximumChunkCount = 250_000
    /// Directories of a TIFF file: pages, and smaller versions of them.
    ///
    /// Those behind as many are not read.
    public var maximumDirectoryCount = 10_000
    /// Items of a HEIF or AVIF file, and what it takes to make its picture: each tile of a grid
    /// counts as often as it is used.
    public var maximumItemCount = 10_000
    /// Levels within levels: pictures made of others in HEIF and AVIF, and elements in XMP.
    public var maximumNestingDepth = 100
    /// Bytes of the decoded result and of what else must be held whole while it is made, together.
    public var maximumMemoryByteCount = 2 << 30

    public init() {}

    /// A limit by the name under which errors and settings speak of it.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        case pixelCount, side, byteCount, metadataByteCount, profileByteCount, frameCount
        case animationPixelCount, scanCount, chunkCount, directoryCount, itemCount, nestingDepth
        case memoryByteCount
    }

    /// A limit by its name.
    public subscript(name: Name) -> Int {
        get {
            switch name {
            case .pixelCount: maximumPixelCount
            case .side: maximumSide
            case .byteCount: maximumByteCount
            case .metadataByteCount: maximumMetadataByteCount
            case .profileByteCount: maximumProfileByteCount
            case .frameCount: maximumFrameCount
            case .animationPixelCount: maximumAnimationPixelCount
            case .scanCount: maximumScanCount
            case .chunkCount: maximumChunkCount
            case .directoryCount: maximumDirectoryCount
            case .itemCount: maximumItemCount
            case .nestingDepth: maximumNestingDepth
            case .memoryByteCount: maximumMemoryByteCount
            }
        }
        set {
            switch name {
            case .pixelCount: maximumPixelCount = newValue
            case .side: maximumSide = newValue
            case .byteCount: maximumByteCount = newValue
            case .metadataByteCount: maximumMetadataByteCount = newValue
            case .profileByteCount: maximumProfileByteCount = newValue
            case .frameCount: maximumFrameCount = newValue
            case .animationPixelCount: maximumAnimationPixelCount = newValue
            case .scanCount: maximumScanCount = newValue
            case .chunkCount: maximumChunkCount = newValue
            case .directoryCount: maximumDirectoryCount = newValue
            case .itemCount: maximumItemCount = newValue
            case .nestingDepth: maximumNestingDepth = newValue
            case .memoryByteCount: maximumMemoryByteCount = newValue
            }
        }
    }

    /// Throws ``CodecError/limitExceeded(_:needed:allowed:)`` if `needed` is more than the limit.
    public func check(_ name: Name, _ needed: Int) throws(CodecError) {
        let allowed = self[name]
        if needed > allowed {
            throw .limitExceeded(name, needed: needed, allowed: allowed)
        }
    }

    /// Whether a colour profile is kept.
    package func allowsProfile(byteCount: Int) -> Bool { byteCount <= maximumProfileByteCount }

    /// The most bytes that a block of metadata or a profile may become when it is decompressed.
    ///
    /// Deflate makes up to 1,032 bytes of one. What programs write becomes some ten times as long, so
    /// that this bounds the work for a file by its own length.
    package func decompressedByteCount(_ name: Name, of compressedByteCount: Int) -> Int {
        let (proportional, overflow) = compressedByteCount.multipliedReportingOverflow(by: 100)
        return min(self[name], overflow ? .max : max(proportional, 1 << 20))
    }

    /// Checks a picture's size as its header states it.
    public func check(_ size: PixelSize) throws(CodecError) {
        try check(.side, size.largestSide)
        try check(.pixelCount, size.area)
    }

    /// Checks what a header says of the picture.
    func check(_ header: ImageHeader) throws(CodecError) {
        try check(header.storedSize)
        try check(frameCount: header.frameCount, of: header.storedSize)
        if case .icc(let profile) = header.colorProfile {
            try check(.profileByteCount, profile.count)
        }
    }

    /// Checks the sizes of blocks of metadata, without parsing them.
    func checkSizes(of blocks: MetadataBlocks) throws(CodecError) {
        for block in [blocks.exif, blocks.xmp, blocks.iptc] {
            try check(.metadataByteCount, block?.count ?? 0)
        }
    }

    /// Checks blocks of metadata that have been read.
    func check(_ blocks: MetadataBlocks) throws(CodecError) {
        try checkSizes(of: blocks)
        guard let packet = blocks.xmp else { return }
        var scanner = XMLScanner(packet, maximumDepth: maximumNestingDepth)
        while scanner.next() != nil {}
        if scanner.isTooDeep { try check(.nestingDepth, maximumNestingDepth + 1) }
    }

    /// Checks the number of frames of an animation, and the pixels of all of them together.
    func check(frameCount: Int, of size: PixelSize) throws(CodecError) {
        try check(.frameCount, frameCount)
        guard frameCount > 1 else { return }
        let (needed, overflow) = size.area.multipliedReportingOverflow(by: frameCount)
        try check(.animationPixelCount, overflow ? .max : needed)
    }
}
