// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// An IP address.
struct HostNumber: Hashable, Sendable {
    /// 4 bytes of IPv4 or 16 of IPv6, in network byte order.
    let bytes: [UInt8]
    let text: String

    /// Parses the standard text form; returns `nil` for other text.
    init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        let isIPv6 = text.contains(":")
        let answer = unsafe bytes.withUnsafeMutableBytes {
            unsafe inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, $0.baseAddress)
        }
        guard answer == 1 else { return nil }
        self.bytes = isIPv6 ? bytes : Array(bytes.prefix(4))
        self.text = text
    }
}

/// Resolves host names with `getaddrinfo`.
enum Resolver {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns all IP addresses of a host name; blocks until the resolver responds.
    static func numbers(of name: String) throws -> [HostNumber] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        // Each address once, not once for each socket type.
        unsafe hints.ai_protocol = Int32(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(name, nil, &hints, &list)
        guard code == 0 else { throw failure(code) }
        defer { unsafe freeaddrinfo(list) }
        var numbers: [HostNumber] = []
        var next = unsafe list
        while let entry = unsafe next {
            var text = [CChar](repeating: 0, count: 64)
            let code = unsafe getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil,
                0, NI_NUMERICHOST)
            guard code == 0 else { throw failure(code) }
            let end = text.firstIndex(of: 0) ?? text.endIndex
            let number = String(
                decoding: text[..<end].map(UInt8.init(bitPattern:)), as: UTF8.self)
            // An address with a zone, such as fe80::1%eth0, cannot be compared with blocks.
            guard let number = HostNumber(number) else {
                throw Failure(description: "\(name) has the unsupported address \(number)")
            }
            numbers.append(number)
            unsafe next = entry.pointee.ai_next
        }
        return numbers
    }

    private static func failure(_ code: Int32) -> Failure {
        let reason = unsafe gai_strerror(code).map { unsafe String(cString: $0) }
        return Failure(description: reason ?? "the host name cannot be resolved")
    }
}
