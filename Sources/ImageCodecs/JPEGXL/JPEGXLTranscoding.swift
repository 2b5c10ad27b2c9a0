// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import CJPEGXL
public import EncodedImages

/// Lossless transcoding of JPEG files to smaller JPEG XL files and back.
public enum JPEGXLTranscoding {
    /// Transcodes a JPEG file to JPEG XL, coefficient by coefficient, in about four fifths of
    /// the bytes.
    ///
    /// - Parameters:
    ///   - file: a whole JPEG file.
    ///   - compressionLevel: the effort spent on a smaller file, from 0 to 9.
    /// - Returns: a whole JPEG XL file.
    /// - Throws: `CodecError/unsupported(feature:)` for arithmetic coding, 12 bits or CMYK, and
    ///   for damaged files.
    public static func jpegXL(
        fromJPEG file: Span<UInt8>, compressionLevel: Int = 6
    ) throws(CodecError) -> [UInt8] {
        var options = EncodeOptions()
        options.compressionLevel = compressionLevel
        return try JPEGXLWriter(jpeg: file, options).finish()
    }

    /// Reconstructs the JPEG file from which a JPEG XL file was transcoded.
    ///
    /// - Parameters:
    ///   - file: a whole JPEG XL file.
    ///   - limits: the limits; `DecodeLimits/maximumByteCount` bounds the result.
    /// - Returns: the original file, byte for byte.
    /// - Throws: `CodecError/unsupported(feature:)` if the file was not transcoded from JPEG,
    ///   or another `CodecError` if it is damaged or exceeds the limits.
    public static func jpeg(
        fromJPEGXL file: Span<UInt8>, limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> [UInt8] {
        try unsafe requireLibrary(calotype_jxl_reader_missing())
        var start: UnsafeMutablePointer<UInt8>?
        var count = 0
        let status = unsafe file.withUnsafeBufferPointer {
            unsafe calotype_jxl_copy_jpeg(
                $0.baseAddress, $0.count, limits.maximumByteCount, &start, &count)
        }
        defer { unsafe free(start) }
        if status == calotype_jxl_unsupported {
            throw .unsupported(
                feature: "reconstruction of a JPEG: the file was not transcoded from one")
        }
        try JPEGXLReader.check(status, file.count)
        try limits.check(.byteCount, count)
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }
}
#endif
