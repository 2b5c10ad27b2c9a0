// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import EncodedImages
internal import Pixels

/// A decoder of a page, which prefers the smallest reduced version that is large enough.
struct TIFFDecoder: ImageDecoder {
    var page = 0

    func selecting(page: Int) -> (any ImageDecoder)? { TIFFDecoder(page: page) }

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let pages = try TIFFPages(bytes, limits: limits)
        let image = try TIFFImage(try pages.directory(ofPage: page, bytes), bytes)
        var header = image.header(bytes, limits)
        header.pageCount = pages.count
        let smaller = pages.reducedVersions(ofPage: page, image, bytes)
        if !smaller.isEmpty {
            let sizes = smaller.map { "\($0.size.width)x\($0.size.height)" }
            header.facts.append(.init("smaller versions", sizes.joined(separator: ", ")))
        }
        return header
    }

    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        let pages = try TIFFPages(bytes, limits: limits)
        return try TIFFMetadata.blocks(
            try pages.directory(ofPage: page, bytes), bytes, limits)
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let pages = try TIFFPages(bytes, limits: rows.limits)
        let whole = try TIFFImage(try pages.directory(ofPage: page, bytes), bytes)
        let profile = whole.colorProfile(bytes, rows.limits)
        let candidates = pages.reducedVersions(ofPage: page, whole, bytes)
        let choice = try rows.choose { smallest(candidates, whole, $0) }
        let image = choice.map { candidates[$0] } ?? whole
        let factor = (whole.size.width + image.size.width / 2) / image.size.width
        rows.report.decoder = "libtiff"
        rows.report.shrinkFactors = [max(factor, 1)]
        try unsafe bytes.withUnsafeBufferPointer { buffer throws(CodecError) in
            var reader = try unsafe TIFFReader(buffer, limits: rows.limits)
            try reader.open(image.directory.offset)
            let source = TIFFBands(image: image)
            if image.model == .converted {
                try rows.begin(image.size, .rgb8, profile)
                try source.forEachConvertedRow(&reader, bytes, into: &rows)
            } else if image.format.plane(0).bytesPerChannel == 2 {
                try decode(
                    TIFFRows<UInt16>(image, profile), source, &reader, bytes, into: &rows)
            } else {
                try decode(
                    TIFFRows<UInt8>(image, profile), source, &reader, bytes, into: &rows)
            }
            if !reader.hasDecoded, let problem = rows.report.problem { throw problem }
        }
    }

    private func decode<Sample: BitwiseCopyable>(
        _ maker: consuming TIFFRows<Sample>, _ source: TIFFBands,
        _ reader: inout TIFFReader, _ bytes: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) {
        let image = source.image
        try rows.begin(image.size, image.format, maker.profile)
        var maker = maker
        try source.forEachRow(&reader, bytes, &rows) {
            (band, place, sink: inout RowSink) throws(CodecError) in
            try maker.append(band, place, into: &sink)
        }
    }

    /// Returns the index of the smallest reduced version that is large enough for the resampler;
    /// `nil` for the whole image.
    private func smallest(
        _ candidates: [TIFFImage], _ whole: TIFFImage, _ plan: DecodePlan
    ) -> Int? {
        let rest = plan.quality == .fast ? 1 : DecodePlan.residualFactor
        let reduction = plan.reduction(ofChroma: false)
        guard reduction >= rest else { return nil }
        let enough = candidates.indices.filter {
            Double(whole.size.width) / Double(candidates[$0].size.width) * rest <= reduction
        }
        return enough.min { candidates[$0].size.width < candidates[$1].size.width }
    }
}
#endif
