// SPDX-License-Identifier: Apache-2.0

/// A finished picture in memory: it never changes, and copies of it share their bytes.
///
/// Shape: the planes of ``format`` one after the other; each plane row by row from the top, each
/// row starting on a multiple of ``rowAlignment`` bytes. What lies between the end of a row and
/// the start of the next has no meaning.
public struct PixelBuffer: Sendable {
    /// Rows start on multiples of this many bytes, the width of the widest SIMD registers.
    public static let rowAlignment = 64

    public let size: PixelSize
    public let format: PixelFormat
    public let colorProfile: ColorProfile
    /// Bytes from the start of a row of the first plane to the start of the next.
    public let bytesPerRow: Int

    fileprivate enum Storage: Sendable {
        /// Vectors rather than bytes, because they are aligned to 64 bytes.
        case vectors([SIMD64<UInt8>])
        /// Memory that another process filled.
        case mapping(MemoryMapping)
    }

    fileprivate let storage: Storage

    fileprivate init(_ buffer: consuming MutablePixelBuffer) {
        size = buffer.size
        format = buffer.format
        colorProfile = buffer.colorProfile
        bytesPerRow = buffer.bytesPerRow
        storage = .vectors(buffer.storage)
    }

    fileprivate init(snapshotOf buffer: borrowing MutablePixelBuffer) {
        size = buffer.size
        format = buffer.format
        colorProfile = buffer.colorProfile
        bytesPerRow = buffer.bytesPerRow
        storage = .vectors(buffer.storage)
    }

    /// A picture in memory that is shared with another process, which can no longer write to it.
    ///
    /// - Parameters:
    ///   - mapping: the planes in the shape that is described above, from its first byte.
    ///   - size: the size in pixels; both sides at least 1.
    ///   - format: what the bytes mean.
    ///   - colorProfile: which colours the numbers stand for.
    package init(
        _ mapping: MemoryMapping, size: PixelSize, format: PixelFormat, colorProfile: ColorProfile
    ) {
        precondition(
            !size.isEmpty && mapping.byteCount == Self.byteCount(of: size, format),
            "the mapping has another size")
        self.size = size
        self.format = format
        self.colorProfile = colorProfile
        bytesPerRow = PlaneLayout(0, format, size).bytesPerRow
        storage = .mapping(mapping)
    }

    /// A copy of a picture in memory that another process may still write to.
    ///
    /// - Parameters:
    ///   - mapping: the memory.
    ///   - offset: where the planes begin, in the shape that is described above.
    ///   - size: the size in pixels; both sides at least 1.
    ///   - format: what the bytes mean.
    ///   - colorProfile: which colours the numbers stand for.
    package init(
        copying mapping: MemoryMapping, at offset: Int, size: PixelSize, format: PixelFormat,
        colorProfile: ColorProfile
    ) {
        precondition(!size.isEmpty, "a picture is at least 1x1")
        self.size = size
        self.format = format
        self.colorProfile = colorProfile
        bytesPerRow = PlaneLayout(0, format, size).bytesPerRow
        let count = Self.byteCount(of: size, format) / Self.rowAlignment
        storage = .vectors(
            unsafe Array(unsafeUninitializedCapacity: count) { vectors, copied in
                // There may be room for more.
                let target = unsafe UnsafeMutableBufferPointer(rebasing: vectors[..<count])
                unsafe mapping.read(UnsafeMutableRawBufferPointer(target), at: offset)
                copied = count
            })
    }

    /// The bytes that the pixels take in memory, padding included.
    public var byteCount: Int {
        switch storage {
        case .vectors(let vectors): vectors.count * Self.rowAlignment
        case .mapping(let mapping): mapping.byteCount
        }
    }

    /// Every byte of every plane, padding included.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self) get {
            switch storage {
            case .vectors(let vectors):
                let span = Span<UInt8>(_bytes: unsafe vectors.span.bytes)
                return unsafe _overrideLifetime(span, borrowing: self)
            case .mapping(let mapping):
                let span = mapping.bytes
                return unsafe _overrideLifetime(span, borrowing: self)
            }
        }
    }

    /// Where the samples of a plane lie.
    public func layout(ofPlane plane: Int) -> PlaneLayout { PlaneLayout(plane, format, size) }

    /// The samples of row `y` of a plane, without padding.
    @_lifetime(borrow self)
    public func row(_ y: Int, plane: Int = 0) -> Span<UInt8> {
        bytes.extracting(layout(ofPlane: plane).row(y))
    }

    /// The bytes that a picture will take in memory; `Int.max` when no `Int` can hold the number.
    public static func byteCount(of size: PixelSize, _ format: PixelFormat) -> Int {
        guard !size.isEmpty, size.area < Int.max / 256 else { return size.isEmpty ? 0 : .max }
        return PlaneLayout(format.planeCount - 1, format, size).end
    }
}

/// Where the samples of one plane lie among the bytes of a picture.
public struct PlaneLayout: Hashable, Sendable {
    /// The plane's columns and rows.
    public let size: PixelSize
    /// The byte at which its first row begins.
    public let offset: Int
    /// Bytes from the start of a row to the start of the next.
    public let bytesPerRow: Int
    public let bytesPerPixel: Int

    /// - Parameters:
    ///   - plane: the number of the plane, from 0.
    ///   - format: what the bytes of the picture mean.
    ///   - picture: the picture's size.
    init(_ plane: Int, _ format: PixelFormat, _ picture: PixelSize) {
        let alignment = PixelBuffer.rowAlignment
        size = format.planeSize(plane, of: picture)
        bytesPerPixel = format.plane(plane).bytesPerPixel
        bytesPerRow = (size.width * bytesPerPixel + alignment - 1) / alignment * alignment
        offset = plane == 0 ? 0 : PlaneLayout(plane - 1, format, picture).end
    }

    var end: Int { offset + size.height * bytesPerRow }

    /// The bytes of row `y`, without padding.
    func row(_ y: Int) -> Range<Int> {
        precondition(y >= 0 && y < size.height, "row \(y) of a plane of \(size) samples")
        let start = offset + y * bytesPerRow
        return start..<start + size.width * bytesPerPixel
    }
}

/// A picture while it is written: it has one owner, who turns it into a ``PixelBuffer`` at the end.
public struct MutablePixelBuffer: ~Copyable {
    public let size: PixelSize
    public let format: PixelFormat
    public var colorProfile: ColorProfile
    public let bytesPerRow: Int
    fileprivate var storage: [SIMD64<UInt8>]

    /// A picture whose samples are all 0.
    ///
    /// Memory is taken here; whoever decodes strangers' pictures checks
    /// ``PixelBuffer/byteCount(of:_:)`` against a limit first.
    ///
    /// - Parameters:
    ///   - size: the size in pixels; both sides at least 1.
    ///   - format: what the bytes mean.
    ///   - colorProfile: which colours the numbers stand for.
    public init(size: PixelSize, format: PixelFormat, colorProfile: ColorProfile = .sRGB) {
        precondition(!size.isEmpty, "a picture is at least 1x1")
        self.size = size
        self.format = format
        self.colorProfile = colorProfile
        bytesPerRow = PlaneLayout(0, format, size).bytesPerRow
        let byteCount = PixelBuffer.byteCount(of: size, format)
        storage = Array(repeating: .zero, count: byteCount / PixelBuffer.rowAlignment)
    }

    /// A copy of a finished picture, to be changed; bytes are copied only if someone else holds them.
    public init(_ finished: consuming PixelBuffer) {
        size = finished.size
        format = finished.format
        colorProfile = finished.colorProfile
        bytesPerRow = finished.bytesPerRow
        switch finished.storage {
        case .vectors(let vectors): storage = vectors
        case .mapping(let mapping):
            let count = mapping.byteCount / PixelBuffer.rowAlignment
            storage = unsafe Array(unsafeUninitializedCapacity: count) { vectors, copied in
                unsafe mapping.bytes.withUnsafeBytes { bytes in
                    unsafe UnsafeMutableRawBufferPointer(vectors).copyMemory(from: bytes)
                }
                copied = count
            }
        }
    }

    /// The picture as it is now; its bytes are copied when this one is changed next.
    public var snapshot: PixelBuffer { PixelBuffer(snapshotOf: self) }

    /// Every byte of every plane, padding included.
    public var bytes: MutableSpan<UInt8> {
        @_lifetime(&self) mutating get {
            var vectors = storage.mutableSpan
            let bytes = unsafe vectors.withUnsafeMutableBytes {
                unsafe $0.bindMemory(to: UInt8.self)
            }
            let span = unsafe MutableSpan(_unsafeElements: bytes)
            return unsafe _overrideLifetime(span, mutating: &self)
        }
    }

    /// Where the samples of a plane lie.
    public func layout(ofPlane plane: Int) -> PlaneLayout { PlaneLayout(plane, format, size) }

    /// The samples of row `y` of a plane as they are now, without padding.
    @_lifetime(borrow self)
    public func row(_ y: Int, plane: Int = 0) -> Span<UInt8> {
        Span(_bytes: unsafe storage.span.bytes).extracting(layout(ofPlane: plane).row(y))
    }

    /// Calls `body` with the samples of row `y` of a plane, without padding.
    public mutating func withMutableRow<Failure: Error>(
        _ y: Int, plane: Int = 0, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let range = layout(ofPlane: plane).row(y)
        var all = bytes
        var row = all._mutatingExtracting(range)
        try body(&row)
    }

    /// Ends the writing; nothing is copied.
    public consuming func finish() -> PixelBuffer { PixelBuffer(self) }
}
