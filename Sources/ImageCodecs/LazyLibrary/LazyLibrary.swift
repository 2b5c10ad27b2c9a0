// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

#if AVIF
    internal import CAVIF
#endif
#if HEIF
    internal import CHEIF
#endif
#if ICC
    internal import CICC
#endif
#if JPEG2000
    internal import CJPEG2000
#endif
#if JPEGXL
    internal import CJPEGXL
#endif
#if PNG
    internal import CPNG
#endif
#if RAW
    internal import CRAW
#endif
#if TIFF
    internal import CTIFF
#endif
#if WebP
    internal import CWebP
#endif

/// Loads the libraries that are otherwise loaded for the first image that needs them.
///
/// A missing library is reported when an image needs it.
func loadLazyLibraries() {
    #if AVIF
        _ = unsafe calotype_avif_missing()
    #endif
    #if HEIF
        _ = unsafe calotype_heif_missing()
    #endif
    #if ICC
        _ = unsafe calotype_icc_missing()
    #endif
    #if JPEG2000
        _ = unsafe calotype_j2k_missing()
    #endif
    #if JPEGXL
        _ = unsafe calotype_jxl_reader_missing()
    #endif
    #if PNG
        _ = unsafe calotype_png_writer_missing()
    #endif
    #if RAW
        _ = unsafe calotype_raw_missing()
    #endif
    #if TIFF
        _ = unsafe calotype_tiff_missing()
    #endif
    #if WebP
        _ = unsafe calotype_webp_missing()
    #endif
}

/// Throws if a library could not be loaded on this machine.
///
/// - Parameter problem: the error of the dynamic loader; `nil` if the library is loaded.
/// - Throws: ``CodecError/library(message:)``.
func requireLibrary(_ problem: UnsafePointer<CChar>?) throws(CodecError) {
    guard let problem = unsafe problem else { return }
    throw .library(message: "cannot load the library: \(unsafe String(cString: problem))")
}
