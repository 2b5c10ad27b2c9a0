// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Decodes the entry that best fits the requested size, or a selected one.
struct ICODecoder: ImageDecoder {
    let kind: ICOCodec.Kind
    /// The index of the entry; `nil` chooses by the requested size.
    let page: Int?

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let entries = try ICOEntry.all(of: bytes, kind, limits: limits)
        let entry = try entry(of: entries)
        var header = ImageHeader(
            storedSize: entry.size, colorModel: entry.colorModel,
            bitsPerComponent: entry.bitsPerComponent)
        header.hasAlpha = true
        header.pageCount = entries.count
        header.facts.append(.init("entry", entry.isPNG ? "PNG" : "BMP"))
        if kind == .cursor {
            header.facts.append(.init("hot spot", "\(entry.hotSpot.x),\(entry.hotSpot.y)"))
        }
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let entries = try ICOEntry.all(of: bytes, kind, limits: rows.limits)
        let largest = try entry(of: entries)
        var chosen = largest
        if page == nil {
            let choice = try rows.choose { smallest(entries, largest, $0) }
            if let choice { chosen = entries[choice] }
        }
        guard chosen.bytes.upperBound <= bytes.count else {
            throw .truncated(byteCount: bytes.count)
        }
        try rows.limits.check(chosen.size)
        rows.report = DecodeReport(
            decoder: chosen.isPNG ? "ico, png" : "ico, bmp",
            shrinkFactors: [largest.size.width / chosen.size.width])
        if chosen.isPNG {
            try decodePNG(bytes.extracting(chosen.bytes), chosen, into: &rows)
        } else {
            try ICOBitmap(bytes, chosen, limits: rows.limits).decode(bytes, into: &rows)
        }
    }

    func selecting(page: Int) -> (any ImageDecoder)? { ICODecoder(kind: kind, page: page) }

    /// Returns the index of the smallest entry with enough pixels; `nil` for the largest.
    private func smallest(_ entries: [ICOEntry], _ largest: ICOEntry, _ plan: DecodePlan) -> Int? {
        let needed = Double(largest.size.width) / max(1, plan.reduction(ofChroma: false))
        var width = largest.size.width
        var chosen: Int?
        // Entries are sorted by size, then by depth, both descending.
        for (index, entry) in entries.enumerated() where entry.isRendition(of: largest) {
            if Double(entry.size.width) >= needed, entry.size.width < width {
                (width, chosen) = (entry.size.width, index)
            }
        }
        return chosen
    }

    private func entry(of entries: [ICOEntry]) throws(CodecError) -> ICOEntry {
        let page = page ?? 0
        guard entries.indices.contains(page) else {
            throw .unsupported(feature: "page \(page + 1); the icon has \(entries.count)")
        }
        return entries[page]
    }

    private func decodePNG(
        _ file: Span<UInt8>, _ entry: ICOEntry, into rows: inout RowSink
    ) throws(CodecError) {
        #if PNG
        let report = rows.report
        try PNGDecoder().decode(file, into: &rows)
        rows.report = report
        #else
        throw .notBuiltIn(format: "png", trait: "PNG")
        #endif
    }
}
