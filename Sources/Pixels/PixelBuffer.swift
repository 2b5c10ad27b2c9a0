// SPDX-License-Identifier: Apache-2.0

/// An immutable decoded image in memory; copies share their bytes.
///
/// Shape: the planes of ``format`` are contiguous. The rows of each plane are stored from the top,
/// each aligned to ``rowAlignment`` bytes. The padding after a row is undefined. Only memory that
/// ``init(adopting:size:format:planes:colorProfile:release:)`` adopts has other offsets and strides.
public struct PixelBuffer: Sendable {
    /// The alignment of rows in bytes: the width of the widest SIMD registers.
    public static let rowAlignment = 64

    /// The size in pixels; both sides at least 1.
    public let size: PixelSize
    /// The format of the planes and samples.
    public let format: PixelFormat
    /// The colour space of the samples.
    public let colorProfile: ColorProfile
    /// The stride in bytes of the rows of the first plane.
    public let bytesPerRow: Int

    fileprivate enum Storage: Sendable {
        /// Vectors instead of bytes, because they are aligned to 64 bytes.
        case vectors([SIMD64<UInt8>])
        /// Memory that another process or several threads have written, or a part of a mapped file.
        case mapping(MemoryMapping, offset: Int)
        /// Memory of another library.
        case adopted(AdoptedMemory)
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

    /// Creates an image in memory to which no process or thread writes any longer.
    ///
    /// - Parameters:
    ///   - mapping: the planes, in the shape of this type; exactly ``byteCount(of:_:)`` bytes.
    ///   - size: the size in pixels; both sides at least 1.
    ///   - format: the format of the bytes.
    ///   - colorProfile: the colour space of the samples.
    package init(
        _ mapping: MemoryMapping, size: PixelSize, format: PixelFormat, colorProfile: ColorProfile
    ) {
        precondition(
            !size.isEmpty && mapping.byteCount == Self.byteCount(of: size, format),
            "\(mapping.byteCount) bytes do not match \(size) pixels of \(format)")
        self.size = size
        self.format = format
        self.colorProfile = colorProfile
        bytesPerRow = PlaneLayout(0, format, size).bytesPerRow
        storage = .mapping(mapping, offset: 0)
    }

    /// Creates an image in a part of a mapped file, without a copy.
    ///
    /// The result is `nil` unless the size is at least 1x1, the offset is a multiple of
    /// ``rowAlignment``, and all planes lie in the mapping. If the file is truncated meanwhile, missing
    /// pixels read as zeros.
    ///
    /// - Parameters:
    ///   - mapping: a guarded mapping of the file.
    ///   - offset: the byte at which the planes start, in the shape of this type.
    ///   - size: the size in pixels.
    ///   - format: the format of the bytes.
    ///   - colorProfile: the colour space of the samples.
    package init?(
        in mapping: MemoryMapping, at offset: Int, size: PixelSize, format: PixelFormat,
        colorProfile: ColorProfile
    ) {
        let byteCount = Self.byteCount(of: size, format)
        guard !size.isEmpty, offset >= 0, offset % Self.rowAlignment == 0,
            byteCount <= mapping.byteCount, offset <= mapping.byteCount - byteCount
        else { return nil }
        self.size = size
        self.format = format
        self.colorProfile = colorProfile
        bytesPerRow = PlaneLayout(0, format, size).bytesPerRow
        storage = .mapping(mapping, offset: offset)
    }

    /// Copies an image from memory that another process may still write to.
    ///
    /// - Parameters:
    ///   - mapping: the memory.
    ///   - offset: the byte at which the planes start, in the shape of this type.
    ///   - size: the size in pixels; both sides at least 1.
    ///   - format: the format of the bytes.
    ///   - colorProfile: the colour space of the samples.
    package init(
        copying mapping: MemoryMapping, at offset: Int, size: PixelSize, format: PixelFormat,
        colorProfile: ColorProfile
    ) {
        precondition(!size.isEmpty, "invalid image size \(size): at least 1x1 is required")
        self.size = size
        self.format = format
        self.colorProfile = colorProfile
        bytesPerRow = PlaneLayout(0, format, size).bytesPerRow
        let count = Self.byteCount(of: size, format) / Self.rowAlignment
        storage = .vectors(
            unsafe Array(unsafeUninitializedCapacity: count) { vectors, copied in
                // The capacity may be larger than requested.
                let target = unsafe UnsafeMutableBufferPointer(rebasing: vectors[..<count])
                unsafe mapping.read(UnsafeMutableRawBufferPointer(target), at: offset)
                copied = count
            })
    }

    /// Creates an image in memory of another library, which has been checked.
    init(
        _ memory: AdoptedMemory, size: PixelSize, format: PixelFormat, colorProfile: ColorProfile
    ) {
        self.size = size
        self.format = format
        self.colorProfile = colorProfile
        bytesPerRow = memory.planes[0].bytesPerRow
        storage = .adopted(memory)
    }

    /// The number of bytes of all planes, padding included.
    public var byteCount: Int {
        switch storage {
        case .vectors(let vectors): vectors.count * Self.rowAlignment
        case .mapping: Self.byteCount(of: size, format)
        case .adopted(let memory): memory.byteCount
        }
    }

    /// The bytes of all planes, padding included.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self) get {
            switch storage {
            case .vectors(let vectors):
                let span = Span<UInt8>(_bytes: unsafe vectors.span.bytes)
                return unsafe _overrideLifetime(span, borrowing: self)
            case .mapping(let mapping, let offset):
                let span = mapping.bytes.extracting(offset..<offset + byteCount)
                return unsafe _overrideLifetime(span, borrowing: self)
            case .adopted(let memory):
                return unsafe _overrideLifetime(memory.bytes, borrowing: self)
            }
        }
    }

    /// Returns the memory layout of a plane, from 0.
    public func layout(ofPlane plane: Int) -> PlaneLayout {
        if case .adopted(let memory) = storage { return memory.planes[plane] }
        return PlaneLayout(plane, format, size)
    }

    /// The image with the offsets and strides of this type: a copy if it has others.
    package var withAlignedRows: PixelBuffer {
        guard case .adopted(let memory) = storage,
            memory.planes != (0..<format.planeCount).map({ PlaneLayout($0, format, size) })
        else { return self }
        return MutablePixelBuffer(self).finish()
    }

    /// Accesses a row in O(1).
    ///
    /// - Parameters:
    ///   - y: the row of the plane, from 0.
    ///   - plane: the index of the plane.
    /// - Returns: the bytes of the row, without padding.
    @_lifetime(borrow self)
    public func row(_ y: Int, plane: Int = 0) -> Span<UInt8> {
        bytes.extracting(layout(ofPlane: plane).row(y))
    }

    /// Returns the number of bytes of an image, padding included.
    ///
    /// The result is 0 for an empty size and `Int.max` on overflow.
    public static func byteCount(of size: PixelSize, _ format: PixelFormat) -> Int {
        guard !size.isEmpty, size.area < Int.max / 256 else { return size.isEmpty ? 0 : .max }
        return PlaneLayout(format.planeCount - 1, format, size).end
    }
}

/// The memory layout of one plane of an image.
public struct PlaneLayout: Hashable, Sendable {
    /// The size of the plane in samples.
    public let size: PixelSize
    /// The offset of the first row in bytes.
    public let offset: Int
    /// The stride of the rows in bytes.
    public let bytesPerRow: Int
    /// The number of bytes per pixel of the plane.
    public let bytesPerPixel: Int

    /// - Parameters:
    ///   - plane: the index of the plane, from 0.
    ///   - format: the format of the image.
    ///   - image: the size of the image in pixels.
    init(_ plane: Int, _ format: PixelFormat, _ image: PixelSize) {
        let alignment = PixelBuffer.rowAlignment
        size = format.planeSize(plane, of: image)
        bytesPerPixel = format.plane(plane).bytesPerPixel
        bytesPerRow = (size.width * bytesPerPixel + alignment - 1) / alignment * alignment
        offset = plane == 0 ? 0 : PlaneLayout(plane - 1, format, image).end
    }

    /// Creates the layout of a plane in memory of another library.
    init(
        _ plane: Int, _ format: PixelFormat, _ image: PixelSize, offset: Int, bytesPerRow: Int
    ) {
        size = format.planeSize(plane, of: image)
        bytesPerPixel = format.plane(plane).bytesPerPixel
        self.offset = offset
        self.bytesPerRow = bytesPerRow
    }

    /// The offset of the first byte after the plane.
    var end: Int { offset + size.height * bytesPerRow }

    /// Returns the range of the bytes of row `y`, without padding.
    func row(_ y: Int) -> Range<Int> {
        precondition(y >= 0 && y < size.height, "row \(y) is outside the plane of \(size) samples")
        let start = offset + y * bytesPerRow
        return start..<start + size.width * bytesPerPixel
    }
}

/// A mutable image in memory with a unique owner; ``finish()`` converts it to a ``PixelBuffer``.
public struct MutablePixelBuffer: ~Copyable {
    /// The size in pixels; both sides at least 1.
    public let size: PixelSize
    /// The format of the planes and samples.
    public let format: PixelFormat
    /// The colour space of the samples.
    public var colorProfile: ColorProfile
    /// The stride in bytes of the rows of the first plane.
    public let bytesPerRow: Int
    fileprivate var storage: [SIMD64<UInt8>]

    /// Creates an image whose samples are all 0.
    ///
    /// This allocates the memory. Decoders of untrusted files compare
    /// ``PixelBuffer/byteCount(of:_:)`` with a limit first.
    ///
    /// - Parameters:
    ///   - size: the size in pixels; both sides at least 1.
    ///   - format: the format of the planes and samples.
    ///   - colorProfile: the colour space of the samples.
    public init(size: PixelSize, format: PixelFormat, colorProfile: ColorProfile = .sRGB) {
        precondition(!size.isEmpty, "invalid image size \(size): at least 1x1 is required")
        self.size = size
        self.format = format
        self.colorProfile = colorProfile
        bytesPerRow = PlaneLayout(0, format, size).bytesPerRow
        let byteCount = PixelBuffer.byteCount(of: size, format)
        storage = Array(repeating: .zero, count: byteCount / PixelBuffer.rowAlignment)
    }

    /// Creates a mutable copy of an image; the bytes are copied only if they are shared.
    public init(_ finished: consuming PixelBuffer) {
        size = finished.size
        format = finished.format
        colorProfile = finished.colorProfile
        bytesPerRow = PlaneLayout(0, format, size).bytesPerRow
        switch finished.storage {
        case .vectors(let vectors): storage = vectors
        case .mapping:
            let count = finished.byteCount / PixelBuffer.rowAlignment
            storage = unsafe Array(unsafeUninitializedCapacity: count) { vectors, copied in
                unsafe finished.bytes.withUnsafeBytes { bytes in
                    unsafe UnsafeMutableRawBufferPointer(vectors).copyMemory(from: bytes)
                }
                copied = count
            }
        case .adopted:
            let byteCount = PixelBuffer.byteCount(of: size, format)
            storage = Array(repeating: .zero, count: byteCount / PixelBuffer.rowAlignment)
            for plane in 0..<format.planeCount {
                for y in 0..<layout(ofPlane: plane).size.height {
                    withMutableRow(y, plane: plane) {
                        finished.row(y, plane: plane).copy(into: &$0)
                    }
                }
            }
        }
    }

    /// An immutable copy of the current state; the next mutation copies the bytes.
    public var snapshot: PixelBuffer { PixelBuffer(snapshotOf: self) }

    /// The bytes of all planes, padding included.
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

    /// Returns the memory layout of a plane, from 0.
    public func layout(ofPlane plane: Int) -> PlaneLayout { PlaneLayout(plane, format, size) }

    /// Accesses a row in O(1).
    ///
    /// - Parameters:
    ///   - y: the row of the plane, from 0.
    ///   - plane: the index of the plane.
    /// - Returns: the current bytes of the row, without padding.
    @_lifetime(borrow self)
    public func row(_ y: Int, plane: Int = 0) -> Span<UInt8> {
        Span(_bytes: unsafe storage.span.bytes).extracting(layout(ofPlane: plane).row(y))
    }

    /// Calls `body` with the mutable bytes of a row, without padding.
    ///
    /// - Parameters:
    ///   - y: the row of the plane, from 0.
    ///   - plane: the index of the plane.
    ///   - body: modifies the bytes.
    /// - Throws: the error of `body`.
    public mutating func withMutableRow<Failure: Error>(
        _ y: Int, plane: Int = 0, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let range = layout(ofPlane: plane).row(y)
        var all = bytes
        var row = all._mutatingExtracting(range)
        try body(&row)
    }

    /// Returns the image as an immutable buffer without copying its bytes.
    public consuming func finish() -> PixelBuffer { PixelBuffer(self) }
}
