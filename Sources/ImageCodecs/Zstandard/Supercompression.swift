// SPDX-License-Identifier: Apache-2.0

#if Zstandard
internal import CZstandard
#endif
internal import EncodedImages
internal import Textures

/// Decompresses the levels of textures.
enum Supercompression {
    /// The least window that is accepted, as a logarithm to base 2, by RFC 8878.
    private static let leastWindowLog = 23

    /// Loads the library, which a sandboxed process does before it gives up its rights.
    static var preload: (@Sendable () -> Void)? {
        #if Zstandard
        return { _ = unsafe calotype_zstandard_missing() }
        #else
        return nil
        #endif
    }

    /// Returns the first bytes of a compressed level.
    ///
    /// - Parameters:
    ///   - level: the compressed bytes.
    ///   - scheme: how they are compressed.
    ///   - byteCount: the number of bytes to return.
    ///   - wholeByteCount: the number of bytes of the whole level.
    ///   - limits: limits the memory.
    /// - Returns: exactly `byteCount` bytes.
    /// - Throws: `CodecError`.
    static func decompressed(
        _ level: Span<UInt8>, _ scheme: TextureHeader.Supercompression, byteCount: Int,
        of wholeByteCount: Int, limits: DecodeLimits
    ) throws(CodecError) -> [UInt8] {
        #if Zstandard
        try unsafe requireLibrary(calotype_zstandard_missing())
        // A window larger than the level is of no use to the compressor.
        let windowLog = min(
            30, max(leastWindowLog, Int.bitWidth - (wholeByteCount - 1).leadingZeroBitCount))
        try limits.check(.memoryByteCount, byteCount + 1 << windowLog)
        var made = 0
        var result = [UInt8](repeating: 0, count: byteCount)
        let problem = unsafe level.withUnsafeBufferPointer { source in
            unsafe result.withUnsafeMutableBufferPointer { target in
                unsafe calotype_zstandard_decompress(
                    source.baseAddress, source.count, target.baseAddress, target.count,
                    Int32(windowLog), &made)
            }
        }
        if let problem = unsafe problem {
            throw .malformed(
                reason: "\(scheme.rawValue): \(unsafe String(cString: problem))", offset: 0)
        }
        guard made == byteCount else { throw .truncated(byteCount: level.count) }
        return result
        #else
        throw .unsupported(
            feature: "KTX 2 with \(scheme.rawValue) in a build without the trait Zstandard")
        #endif
    }
}
