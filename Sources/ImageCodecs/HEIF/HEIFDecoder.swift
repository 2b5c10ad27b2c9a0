// SPDX-License-Identifier: Apache-2.0

#if HEIF
internal import CHEIF
internal import EncodedImages
internal import Pixels

/// Decodes HEIF with libheif.
struct HEIFDecoder: ImageDecoder {
    let page: Int

    func selecting(page: Int) -> (any ImageDecoder)? { HEIFDecoder(page: page) }

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        try withImage(bytes, limits) { image throws(CodecError) in
            var header = try image.header(limits)
            header.hasGainMap = page == 0 && ItemGainMap.isPresent(in: bytes)
            return header
        }
    }

    func gainMap(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> GainMap? {
        guard page == 0 else { return nil }
        try ItemGraph.check(bytes, limits)
        return ItemGainMap.read(bytes, limits)
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        try withImage(bytes, rows.limits) { image throws(CodecError) in
            let header = try image.header(rows.limits)
            // The planes of libde265 and libheif's copy (up to three and alpha), and per-block
            // data; of a grid the whole, and of a tile both.
            let (needed, overflow) = header.storedSize.area.multipliedReportingOverflow(
                by: (header.bitsPerComponent > 8 ? 2 : 1) * (header.hasAlpha ? 9 : 7))
            try rows.workLimits.check(.memoryByteCount, overflow ? .max : needed)
            if rows.cancellation?.isCancelled == true { throw .cancelled }
            let usesThumbnail = try rows.choose { image.thumbnailSuffices($0) }
            rows.report = DecodeReport(
                decoder: usesThumbnail ? "libheif, thumbnail" : "libheif")
            try image.decode(isThumbnail: usesThumbnail) { planes throws(CodecError) in
                if !usesThumbnail, planes.region.size != header.storedSize {
                    throw .malformed(
                        reason: "decoded image is \(planes.region.size), "
                            + "header specifies \(header.storedSize)", offset: 0)
                }
                let factor = header.storedSize.width / max(1, planes.region.width)
                rows.report.shrinkFactors = planes.planes.map { _ in factor }
                try planes.append(to: &rows, header.colorProfile)
            }
        }
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        try withImage(bytes, limits) { image throws(CodecError) in
            try image.metadata(limits)
        }
    }

    private func withImage<Result>(
        _ bytes: Span<UInt8>, _ limits: DecodeLimits,
        _ body: (HEIFImage) throws(CodecError) -> Result
    ) throws(CodecError) -> Result {
        try ItemGraph.check(bytes, limits)
        return try unsafe bytes.withUnsafeBufferPointer { file throws(CodecError) in
            let image = try unsafe HEIFImage(file, page: page)
            return try body(image)
        }
    }
}
#endif
