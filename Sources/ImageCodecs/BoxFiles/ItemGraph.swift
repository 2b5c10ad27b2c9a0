// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The items of a HEIF or AVIF file and their derivation from each other.
///
/// Both libraries follow all references of a file, so that they are checked before the file is passed
/// on.
/// - SeeAlso: ISO/IEC 14496-12, 8.11.3 (`iloc`), 8.11.6 (`iinf`) and 8.11.12 (`iref`);
///   ISO/IEC 23008-12, 6.5.3 (`ispe`) and 6.6.2 (derived images).
struct ItemGraph {
    /// The cost of decoding an item: itself and all its inputs, as often as they are used.
    private struct Item {
        var users: [Int] = []
        var pendingInputs = 0
        var cost = 1
        var depth = 1
    }

    private var items: [Int: Item] = [:]

    /// Checks the items of a file; the libraries report boxes that cannot be read.
    ///
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)`` for too many items, inputs, levels or
    ///   pixels, or ``CodecError/malformed(reason:offset:)`` for an item that is derived from itself.
    static func check(_ file: Span<UInt8>, _ limits: DecodeLimits) throws(CodecError) {
        guard let meta = BoxReader.first("meta", in: 0..<file.count, file),
            meta.start + 4 <= meta.range.upperBound
        else { return }
        var graph = ItemGraph()
        var references: BoxReader.Box?
        var reader = BoxReader(meta.start + 4..<meta.range.upperBound)
        while let box = reader.next(file) {
            switch box.type {
            case "iinf": try checkList(box, file, limits)
            case "iloc": try checkPlaces(box, file, limits)
            case "iprp": try checkProperties(box, file, limits)
            case "iref":
                try graph.read(box, file, limits)
                references = box
            default: break
            }
        }
        if let references { try graph.check(references.start, limits) }
    }

    private static func checkList(
        _ list: BoxReader.Box, _ file: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) {
        let isShort = file.integer(at: list.start, byteCount: 1) == 0
        let stated = file.integer(at: list.start + 4, byteCount: isShort ? 2 : 4) ?? 0
        try limits.check(.itemCount, stated)
    }

    private static func checkPlaces(
        _ places: BoxReader.Box, _ file: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) {
        guard let version = file.integer(at: places.start, byteCount: 1),
            let widths = file.integer(at: places.start + 4, byteCount: 2)
        else { return }
        let idWidth = version < 2 ? 2 : 4
        guard let count = file.integer(at: places.start + 6, byteCount: idWidth) else { return }
        try limits.check(.itemCount, count)
        let extentWidth =
            (widths >> 12) + (widths >> 8 & 15) + (version == 0 ? 0 : widths & 15)
        var offset = places.start + 6 + idWidth
        var extentCount = 0
        for _ in 0..<count {
            guard offset < places.range.upperBound else { return }
            offset += idWidth + (version == 0 ? 0 : 2) + 2 + (widths >> 4 & 15)
            guard let extents = file.integer(at: offset, byteCount: 2) else { return }
            // An extent is as much work as an item.
            extentCount += extents
            try limits.check(.itemCount, extentCount)
            offset += 2 + extents * extentWidth
        }
    }

    private static func checkProperties(
        _ properties: BoxReader.Box, _ file: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) {
        guard let container = BoxReader.first("ipco", in: properties.body, file) else { return }
        var reader = BoxReader(container.body)
        var count = 0
        while let property = reader.next(file) {
            count += 1
            try limits.check(.itemCount, count)
            guard property.type == "ispe",
                let width = file.integer(at: property.start + 4, byteCount: 4),
                let height = file.integer(at: property.start + 8, byteCount: 4)
            else { continue }
            try limits.check(PixelSize(width: width, height: height))
        }
    }

    private mutating func read(
        _ references: BoxReader.Box, _ file: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) {
        guard let version = file.integer(at: references.start, byteCount: 1) else { return }
        let width = version == 0 ? 2 : 4
        var reader = BoxReader(
            references.start + 4..<max(references.start + 4, references.range.upperBound))
        var total = 0
        while let box = reader.next(file) {
            guard let from = file.integer(at: box.start, byteCount: width),
                let count = file.integer(at: box.start + width, byteCount: 2)
            else { return }
            total += count
            try limits.check(.itemCount, total)
            for index in 0..<count {
                let place = box.start + width + 2 + index * width
                guard place + width <= box.range.upperBound,
                    let to = file.integer(at: place, byteCount: width)
                else { break }
                switch box.type {
                case "dimg": connect(from, to: to)
                // Alpha, depth and thumbnails refer to the image that they belong to.
                case "auxl", "thmb": connect(to, to: from)
                default: break
                }
            }
        }
    }

    private mutating func connect(_ item: Int, to input: Int) {
        items[item, default: Item()].pendingInputs += 1
        items[input, default: Item()].users.append(item)
    }

    /// Visits the items in topological order, from those without inputs.
    private func check(_ offset: Int, _ limits: DecodeLimits) throws(CodecError) {
        var items = items
        var ready = items.filter { $0.value.pendingInputs == 0 }.map(\.key)
        var doneCount = 0
        while let id = ready.popLast(), let item = items[id] {
            doneCount += 1
            for id in item.users {
                guard var user = items[id] else { continue }
                user.cost = user.cost.addingReportingOverflow(item.cost).partialValue
                user.depth = max(user.depth, item.depth + 1)
                user.pendingInputs -= 1
                if user.pendingInputs == 0 { ready.append(id) }
                items[id] = user
                try limits.check(.itemCount, user.cost < 0 ? .max : user.cost)
                try limits.check(.nestingDepth, user.depth)
            }
        }
        guard doneCount == items.count else {
            throw .malformed(reason: "an item is derived from itself", offset: offset)
        }
    }
}
