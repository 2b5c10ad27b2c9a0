// SPDX-License-Identifier: Apache-2.0

/// Edits XMP packets; bytes that are not removed remain as they are.
package enum XMPPacket {
    /// Removes properties, and fields of properties, by name.
    ///
    /// - Parameters:
    ///   - packet: XML in UTF-8.
    ///   - isRemoved: whether elements and attributes of a name are removed.
    /// - Returns: `nil` if the packet is damaged, so that its contents are unknown.
    static func removing(
        from packet: [UInt8], where isRemoved: (XMLScanner.Name) -> Bool
    ) -> [UInt8]? {
        var scanner = XMLScanner(packet)
        var ranges: [Range<Int>] = []
        var removed: (start: Int, depth: Int)?
        while let event = scanner.next() {
            switch event {
            case .start(let name, let range):
                guard removed == nil else { continue }
                if isRemoved(name) {
                    removed = (range.lowerBound, scanner.depth)
                    continue
                }
                while let attribute = scanner.nextAttribute() {
                    if isRemoved(attribute.name) { ranges.append(attribute.range) }
                }
            case .end(let range):
                guard let (start, depth) = removed, scanner.depth < depth else { continue }
                ranges.append(start..<range.upperBound)
                removed = nil
            case .text: break
            }
        }
        guard !scanner.isDamaged else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(packet.count)
        var end = 0
        for range in ranges {
            result += packet[end..<range.lowerBound]
            end = range.upperBound
        }
        return result + packet[end...]
    }
}
