// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// What a picture may ask of the machine that decodes it.
///
/// Every limit is checked on the header, before memory is taken for pixels; `maximumScanCount` is
/// checked as the scans come, because no header counts them.
public struct DecodeLimits: Hashable, Sendable {
    /// Pixels of the picture as it is stored.
    public var maximumPixelCount = 400_000_000
    /// Pixels of its longer side.
    public var maximumSide = 65_535
    /// Bytes of the file.
    public var maximumByteCount = 1 << 30
    /// Bytes of one piece of metadata, such as a colour profile, after decompression.
    public var maximumMetadataByteCount = 16 << 20
    /// Frames of an animation.
    public var maximumFrameCount = 10_000
    /// Passes over the picture in a progressive file; ordinary files have 10.
    public var maximumScanCount = 100
    /// Bytes of the decoded result, and of what else must be held whole while it is made.
    public var maximumMemoryByteCount = 2 << 30

    public init() {}

    /// A limit by the name under which errors and settings speak of it.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        case pixelCount, side, byteCount, metadataByteCount, frameCount, scanCount, memoryByteCount
    }

    /// A limit by its name.
    public subscript(name: Name) -> Int {
        get {
            switch name {
            case .pixelCount: maximumPixelCount
            case .side: maximumSide
            case .byteCount: maximumByteCount
            case .metadataByteCount: maximumMetadataByteCount
            case .frameCount: maximumFrameCount
            case .scanCount: maximumScanCount
            case .memoryByteCount: maximumMemoryByteCount
            }
        }
        set {
            switch name {
            case .pixelCount: maximumPixelCount = newValue
            case .side: maximumSide = newValue
            case .byteCount: maximumByteCount = newValue
            case .metadataByteCount: maximumMetadataByteCount = newValue
            case .frameCount: maximumFrameCount = newValue
            case .scanCount: maximumScanCount = newValue
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

    /// Checks a picture's size as its header states it.
    public func check(_ size: PixelSize) throws(CodecError) {
        try check(.side, size.largestSide)
        try check(.pixelCount, size.area)
    }
}
