// SPDX-License-Identifier: Apache-2.0

#if AVIF
internal import EncodedImages

/// Repairs files with two `ipma` boxes of the same version and flags, as early encoders wrote
/// them.
///
/// ISO/IEC 14496-12, 8.11.14 forbids that.
///
/// The second box's entries are appended to the first. The 16 bytes that this saves become a
/// `free` property, so that all later offsets stay valid.
enum PropertyAssociations {
    /// Merges two `ipma` boxes.
    ///
    /// - Returns: the file with one box; `nil` if it does not have exactly this defect.
    static func merged(_ file: Span<UInt8>) -> [UInt8]? {
        guard let meta = BoxReader.first("meta", in: 0..<file.count, file),
            meta.start + 4 <= meta.range.upperBound,
            let properties = BoxReader.first(
                "iprp", in: meta.start + 4..<meta.range.upperBound, file)
        else { return nil }
        var reader = BoxReader(properties.body)
        guard let container = reader.next(file), container.type == "ipco",
            let first = reader.next(file), first.type == "ipma",
            let second = reader.next(file), second.type == "ipma",
            container.start == container.range.lowerBound + 8,
            first.body.count >= 8, second.body.count >= 8,
            first.start == first.range.lowerBound + 8,
            second.start == second.range.lowerBound + 8,
            let flags = file.integer(at: first.start, byteCount: 4),
            file.integer(at: second.start, byteCount: 4) == flags,
            let firstCount = file.integer(at: first.start + 4, byteCount: 4),
            let secondCount = file.integer(at: second.start + 4, byteCount: 4),
            firstCount <= 65_535, secondCount <= 65_535
        else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(file.count)
        func copy(_ range: Range<Int>) { for index in range { result.append(file[index]) } }
        func write(_ value: Int) { result.append(value, byteCount: 4) }
        copy(0..<container.range.lowerBound)
        write(container.range.count + 16)
        copy(container.range.lowerBound + 4..<container.range.upperBound)
        write(16)
        result += Array("free".utf8) + Array(repeating: 0, count: 8)
        write(first.range.count + second.range.count - 16)
        result += Array("ipma".utf8)
        write(flags)
        write(firstCount + secondCount)
        copy(first.start + 8..<first.range.upperBound)
        copy(second.start + 8..<second.range.upperBound)
        copy(second.range.upperBound..<file.count)
        return result
    }
}
#endif
