// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
/// A plane of samples in memory that a library owns: 8 bits each, or 16 bits in native byte
/// order.
///
/// It must not outlive the library's image.
@safe struct SamplePlane {
    private let start: UnsafePointer<UInt8>
    private let bytesPerRow: Int
    let width: Int
    let height: Int
    let isWide: Bool

    /// Creates a plane.
    ///
    /// - Parameters:
    ///   - start: the first sample of the first row; `nil` if the library has no such plane.
    ///   - bytesPerRow: the distance between two rows in bytes.
    ///   - width: the number of samples in a row.
    ///   - height: the number of rows.
    ///   - isWide: whether samples have 16 bits.
    @unsafe init?(
        _ start: UnsafePointer<UInt8>?, bytesPerRow: Int, width: Int, height: Int, isWide: Bool
    ) {
        guard let start = unsafe start, width > 0, height > 0,
            bytesPerRow >= width * (isWide ? 2 : 1)
        else { return nil }
        unsafe self.start = start
        self.bytesPerRow = bytesPerRow
        self.width = width
        self.height = height
        self.isWide = isWide
    }

    /// Calls `body` with the bytes of row `y`, clamped to the existing rows.
    func withRow<Result, Failure: Error>(
        _ y: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let row = min(max(y, 0), height - 1)
        let bytes = unsafe UnsafeBufferPointer(
            start: start + row * bytesPerRow, count: width * (isWide ? 2 : 1))
        return try body(unsafe Span(_unsafeElements: bytes))
    }

    /// Copies row `y` to the start of `samples`.
    func load(_ y: Int, into samples: inout [UInt16]) {
        precondition(samples.count >= width, "the row does not fit")
        let isWide = isWide
        let width = width
        withRow(y) { row in
            unsafe row.withUnsafeBytes { row in
                unsafe samples.withUnsafeMutableBufferPointer { samples in
                    if isWide {
                        let wide = unsafe row.assumingMemoryBound(to: UInt16.self)
                        for x in 0..<width { unsafe samples[x] = wide[x] }
                    } else {
                        for x in 0..<width { unsafe samples[x] = UInt16(row[x]) }
                    }
                }
            }
        }
    }
}
#endif
