// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The limits on the resources that decoding an image may use.
///
/// Values of a header are checked before memory is allocated for them, other counts while decoding.
/// The output of a decoder is checked again.
public struct DecodeLimits: Hashable, Sendable {
    /// The maximum number of pixels of a stored image.
    public var maximumPixelCount = 400_000_000
    /// The maximum length of the longer side in pixels.
    public var maximumSide = 65_535
    /// The maximum size of a file in bytes.
    public var maximumByteCount = 1 << 30
    /// The maximum size of a block of metadata, such as EXIF, in bytes after decompression.
    public var maximumMetadataByteCount = 16 << 20
    /// The maximum size of a colour profile in bytes after decompression.
    ///
    /// Profiles of presses have 3 million bytes. A longer profile is ignored.
    public var maximumProfileByteCount = 16 << 20
    /// The maximum number of frames of an animation.
    public var maximumFrameCount = 10_000
    /// The maximum number of pixels of all frames together, each counted as large as the canvas.
    public var maximumAnimationPixelCount = 20_000_000_000
    /// The maximum number of scans of a progressive file; ordinary files have 10.
    public var maximumScanCount = 100
    /// The maximum number of chunks of a PNG file; ordinary files have one per 8,000 bytes.
    public var maximumChunkCount = 250_000
    /// The maximum number of directories of a TIFF file: pages, and reduced versions of them.
    ///
    /// Later directories are not read.
    public var maximumDirectoryCount = 10_000
    /// The maximum number of items of a HEIF or AVIF file.
    ///
    /// A tile of a grid counts as often as it is used.
    public var maximumItemCount = 10_000
    /// The maximum nesting depth of derived images in HEIF and AVIF, and of elements in XMP.
    public var maximumNestingDepth = 100
    /// The maximum size of the result and of all buffers that decoding needs, in bytes.
    public var maximumMemoryByteCount = 2 << 30

    /// The default limits.
    public init() {}

    /// The names of the limits in errors and settings.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        /// ``DecodeLimits/maximumPixelCount``.
        case pixelCount
        /// ``DecodeLimits/maximumSide``.
        case side
        /// ``DecodeLimits/maximumByteCount``.
        case byteCount
        /// ``DecodeLimits/maximumMetadataByteCount``.
        case metadataByteCount
        /// ``DecodeLimits/maximumProfileByteCount``.
        case profileByteCount
        /// ``DecodeLimits/maximumFrameCount``.
        case frameCount
        /// ``DecodeLimits/maximumAnimationPixelCount``.
        case animationPixelCount
        /// ``DecodeLimits/maximumScanCount``.
        case scanCount
        /// ``DecodeLimits/maximumChunkCount``.
        case chunkCount
        /// ``DecodeLimits/maximumDirectoryCount``.
        case directoryCount
        /// ``DecodeLimits/maximumItemCount``.
        case itemCount
        /// ``DecodeLimits/maximumNestingDepth``.
        case nestingDepth
        /// ``DecodeLimits/maximumMemoryByteCount``.
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

    /// Checks a value against a limit.
    ///
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)`` if `needed` exceeds the limit.
    public func check(_ name: Name, _ needed: Int) throws(CodecError) {
        let allowed = self[name]
        if needed > allowed {
            throw .limitExceeded(name, needed: needed, allowed: allowed)
        }
    }

    /// Whether a colour profile of this size is read.
    package func allowsProfile(byteCount: Int) -> Bool { byteCount <= maximumProfileByteCount }

    /// Returns the maximum size of a block of metadata or a profile after decompression, in bytes.
    ///
    /// Deflate expands up to 1,032 times, real blocks about 10 times. This limit bounds the work by
    /// the length of the file.
    package func decompressedByteCount(_ name: Name, of compressedByteCount: Int) -> Int {
        let (proportional, overflow) = compressedByteCount.multipliedReportingOverflow(by: 100)
        return min(self[name], overflow ? .max : max(proportional, 1 << 20))
    }

    /// Checks the size that a header states.
    ///
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)``.
    public func check(_ size: PixelSize) throws(CodecError) {
        try check(.side, size.largestSide)
        try check(.pixelCount, size.area)
    }

    /// Checks a header.
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

    /// Checks the sizes of blocks of metadata, and the nesting of XMP.
    func check(_ blocks: MetadataBlocks) throws(CodecError) {
        try checkSizes(of: blocks)
        guard let packet = blocks.xmp else { return }
        var scanner = XMLScanner(packet, maximumDepth: maximumNestingDepth)
        while scanner.next() != nil {}
        if scanner.isTooDeep { try check(.nestingDepth, maximumNestingDepth + 1) }
    }

    /// Checks the number of frames of an animation, and the pixels of all frames together.
    func check(frameCount: Int, of size: PixelSize) throws(CodecError) {
        try check(.frameCount, frameCount)
        guard frameCount > 1 else { return }
        let (needed, overflow) = size.area.multipliedReportingOverflow(by: frameCount)
        try check(.animationPixelCount, overflow ? .max : needed)
    }
}
