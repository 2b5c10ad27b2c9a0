// SPDX-License-Identifier: Apache-2.0

/// Restricts connections to allowed IP addresses.
///
/// A host name is resolved once, all of its addresses are checked, and the connection is made to
/// one of them, so that DNS rebinding has no effect.
public struct AddressGuard: Sendable {
    /// A block of IP addresses, such as `10.0.0.0/8` or `fd00::/8`.
    public struct Block: Sendable, Hashable {
        private let bytes: [UInt8]
        private let bitCount: Int

        /// Parses a block in CIDR notation; returns `nil` for other text.
        public init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard let first = parts.first, parts.count <= 2,
                let number = HostNumber(String(first))
            else { return nil }
            bytes = number.bytes
            bitCount = parts.count == 2 ? Int(parts[1]) ?? -1 : bytes.count * 8
            guard 0...bytes.count * 8 ~= bitCount else { return nil }
        }

        func contains(_ address: [UInt8]) -> Bool {
            guard address.count == bytes.count else { return false }
            return (0..<bitCount).allSatisfy { bit in
                let mask = UInt8(0x80) >> (bit % 8)
                return bytes[bit / 8] & mask == address[bit / 8] & mask
            }
        }
    }

    /// The blocks that are allowed although they are not public.
    public var allowed: [Block]
    /// Resolves a host name.
    let resolve: @Sendable (String) throws -> [HostNumber]

    /// Creates a guard that allows public addresses and some blocks.
    public init(allowed: [Block] = []) {
        self.init(allowed: allowed) { try Resolver.numbers(of: $0) }
    }

    init(allowed: [Block], resolve: @escaping @Sendable (String) throws -> [HostNumber]) {
        self.allowed = allowed
        self.resolve = resolve
    }

    /// Returns the allowed IP addresses of a host.
    ///
    /// - Parameter host: a host name or an IP address, an IPv6 address in brackets.
    /// - Returns: all addresses, none if any of them is not allowed.
    /// - Throws: the errors of the resolver.
    func addresses(of host: String) throws -> [String] {
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let numbers = try resolve(name)
        return numbers.allSatisfy { allows($0.bytes) } ? numbers.map(\.text) : []
    }

    /// Returns whether connections to an IP address are allowed.
    func allows(_ address: [UInt8]) -> Bool {
        if allowed.contains(where: { $0.contains(address) }) { return true }
        if address.count == 4 { return !Self.closed4.contains { $0.contains(address) } }
        guard address.count == 16, Self.open6.contains(where: { $0.contains(address) }) else {
            return false
        }
        // An IPv4 address in the lower half (RFC 5214, section 6.1).
        let isISATAP = [[0, 0, 0x5E, 0xFE], [2, 0, 0x5E, 0xFE]].contains(Array(address[8..<12]))
        return !isISATAP && !Self.closed6.contains { $0.contains(address) }
    }

    /// IANA's registry of special-purpose IPv4 addresses.
    private static let closed4 = blocks(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3")
    /// The global unicast block of IPv6; all others are rejected, those that embed an IPv4 address
    /// included.
    private static let open6 = blocks("2000::/3")
    /// The special blocks within it: Teredo, benchmarks, ORCHID, documentation, 6to4.
    private static let closed6 = blocks(
        "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")

    private static func blocks(_ texts: String...) -> [Block] { texts.compactMap(Block.init) }
}
