// SPDX-License-Identifier: Apache-2.0

#if RAW
    internal import CRAW
#endif
internal import EncodedImages

extension ImageFormat {
    /// The files of camera sensors, of all makers: one format here, as one library reads them.
    static let raw = ImageFormat(
        name: "raw",
        extensions: [
            "dng", "cr2", "cr3", "nef", "nrw", "arw", "sr2", "srf", "orf", "rw2", "rwl", "raf",
            "pef", "srw", "3fr", "fff", "iiq", "erf", "mef", "mos", "mrw", "kdc", "dcr", "crw",
        ],
        mediaType: "image/x-dcraw",
        signatures: [
            Signature([0x49, 0x49, 0x2A, 0, 0x10, 0, 0, 0, 0x43, 0x52]),
            Signature(Array("ftypcrx ".utf8), at: 4),
            Signature(Array("FUJIFILMCCD-RAW".utf8)),
            Signature(Array("IIRO".utf8)), Signature(Array("IIRS".utf8)),
            Signature(Array("MMOR".utf8)), Signature([0x49, 0x49, 0x55, 0]),
            Signature([0, 0x4D, 0x52, 0x4D]),
            Signature([0x49, 0x49, 0x1A, 0, 0, 0] + Array("HEAPCCDR".utf8)),
        ])
}

#if RAW
    /// RAW: what the sensor of a camera saw, before it became a picture.
    ///
    /// Most makers' files are TIFF in their structure: directories that lead to the sensor's data, of
    /// one colour a pixel and often compressed in the maker's own way, to previews in JPEG, and to
    /// EXIF. Adobe's DNG is the same in public. Olympus and Panasonic change the first bytes, Canon's
    /// CR3 is built of the boxes of MPEG-4, Fujifilm's RAF has a header of its own. Files that look
    /// like TIFF are told by what their directories say: a mosaic of colours is no picture that a
    /// reader of TIFF could show.
    ///
    /// A picture that is asked for at most at the size of a preview is made from that, as the camera
    /// saw it; a larger one is developed by LibRaw with the camera's white balance, which takes a
    /// hundred times as long and may look a little different.
    /// - SeeAlso: Adobe, *Digital Negative (DNG) Specification*, version 1.4; ISO 12234-2 (TIFF/EP).
    struct RAWCodec: ImageCodec {
        let format = ImageFormat.raw
        let decoder: any ImageDecoder = RAWDecoder()
        let encoder: (any ImageEncoder)? = nil

        func recognizedByteCount(_ file: Span<UInt8>) -> Int {
            var longest = 0
            for signature in format.signatures where signature.matches(file) {
                longest = max(longest, signature.bytes.count)
            }
            // More than the four bytes that any TIFF file has.
            if longest == 0, RAWDirectories.areOfSensor(file) { longest = 8 }
            return longest
        }
    }
#endif

extension CodecEntry {
    static var raw: CodecEntry {
        #if RAW
            var entry = CodecEntry(RAWCodec(), preload: { _ = unsafe calotype_raw_missing() })
            entry.isSandboxOnly = true
            return entry
        #else
            CodecEntry(missing: .raw, trait: "RAW")
        #endif
    }
}
