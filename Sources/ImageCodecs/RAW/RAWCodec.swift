// SPDX-License-Identifier: Apache-2.0

#if RAW
internal import CRAW
#endif
internal import EncodedImages

/// Camera RAW files of all makers: one format, because one library reads them all.
let rawFormat = ImageFormat(
    name: "raw",
    extensions: [
        "dng", "cr2", "cr3", "nef", "nrw", "arw", "sr2", "srf", "orf", "rw2", "rwl", "raf",
        "pef", "srw", "3fr", "fff", "iiq", "erf", "mef", "mos", "mrw", "kdc", "dcr", "crw",
    ],
    mediaType: "image/x-dcraw",
    signatures: [
        .init([0x49, 0x49, 0x2A, 0, 0x10, 0, 0, 0, 0x43, 0x52]),
        .init(Array("ftypcrx ".utf8), at: 4),
        .init(Array("FUJIFILMCCD-RAW".utf8)),
        .init(Array("IIRO".utf8)), .init(Array("IIRS".utf8)),
        .init(Array("MMOR".utf8)), .init([0x49, 0x49, 0x55, 0]),
        .init([0, 0x4D, 0x52, 0x4D]),
        .init([0x49, 0x49, 0x1A, 0, 0, 0] + Array("HEAPCCDR".utf8)),
    ])

#if RAW
/// RAW: the unprocessed data of a camera's sensor.
///
/// The files of most makers have the structure of TIFF. Their directories lead to the sensor
/// data (one colour per pixel, often with proprietary compression), to JPEG previews, and to
/// EXIF. Adobe's DNG is the documented form. Olympus and Panasonic change the first bytes,
/// Canon's CR3 consists of ISO base media boxes, Fujifilm's RAF has a header of its own. Files
/// with a TIFF signature are recognized by their directories: a colour filter array is not an
/// image that a TIFF decoder could show.
///
/// A result of at most the size of a preview is decoded from the preview, as the camera
/// rendered it. A larger one is developed by LibRaw with the camera's white balance, which
/// takes a hundred times as long and may look slightly different.
/// - SeeAlso: Adobe, *Digital Negative (DNG) Specification*, version 1.4; ISO 12234-2 (TIFF/EP).
struct RAWCodec: ImageCodec {
    let format = rawFormat
    let decoder: any ImageDecoder = RAWDecoder()
    let encoder: (any ImageEncoder)? = nil

    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        var longest = 0
        for signature in format.signatures where signature.matches(file) {
            longest = max(longest, signature.bytes.count)
        }
        // More than the four bytes of any TIFF signature.
        if longest == 0, RAWDirectories.containSensorData(file) { longest = 8 }
        return longest
    }
}
#endif

var rawEntry: CodecEntry {
    #if RAW
    var entry = CodecEntry(RAWCodec(), preload: { _ = unsafe calotype_raw_missing() })
    entry.isSandboxOnly = true
    return entry
    #else
    CodecEntry(missing: rawFormat, trait: "RAW")
    #endif
}
