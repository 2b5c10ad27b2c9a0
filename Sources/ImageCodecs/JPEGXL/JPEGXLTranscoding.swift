// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Darwin
    #endif
    internal import CJPEGXL
    public import EncodedImages

    /// Turns JPEG files into smaller JPEG XL files, from which they can be made again to the byte.
    public enum JPEGXLTranscoding {
        /// The same picture, coefficient by coefficient, in about four fifths of the bytes.
        ///
        /// - Parameters:
        ///   - file: a whole JPEG file.
        ///   - compressionLevel: how much work goes into a small file, from 0 to 9.
        /// - Returns: a whole JPEG XL file.
        /// - Throws: `CodecError/unsupported(feature:)` for arithmetic coding, 12 bits or four
        ///   inks, and for files that are damaged.
        public static func jpegXL(
            fromJPEG file: Span<UInt8>, compressionLevel: Int = 6
        ) throws(CodecError) -> [UInt8] {
            var options = EncodeOptions()
            options.compressionLevel = compressionLevel
            return try JPEGXLWriter(jpeg: file, options).finish()
        }

        /// The JPEG file from which a JPEG XL file was made.
        ///
        /// - Parameters:
        ///   - file: a whole JPEG XL file.
        ///   - limits: what the result may take; `DecodeLimits/maximumByteCount` counts.
        /// - Returns: the original file, byte for byte.
        /// - Throws: `CodecError/unsupported(feature:)` if it was not made from a JPEG file.
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
                throw .unsupported(feature: "making a JPEG of a file that was not made from one")
            }
            try JPEGXLReader.check(status, file.count)
            try limits.check(.byteCount, count)
            return unsafe Array(UnsafeBufferPointer(start: start, count: count))
        }
    }
#endif
