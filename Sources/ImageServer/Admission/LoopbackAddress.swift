// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Checks for IP addresses that only this machine can reach.
enum LoopbackAddress {
    /// Whether `text` is a numeric address in 127.0.0.0/8, also mapped into IPv6, or ::1.
    static func isLoopback(_ text: String) -> Bool {
        let mapped = text.hasPrefix("::ffff:") ? String(text.dropFirst("::ffff:".count)) : text
        var four = in_addr()
        if unsafe inet_pton(AF_INET, mapped, &four) == 1 {
            return UInt32(bigEndian: four.s_addr) >> 24 == 127
        }
        return text == "::1"
    }

    /// Whether a listening socket is bound to a loopback address.
    static func isLoopback(_ descriptor: CInt) -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let isNumber = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            guard let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                unsafe getsockname(descriptor, address, &length) == 0,
                unsafe [sa_family_t(AF_INET), sa_family_t(AF_INET6)]
                    .contains(address.pointee.sa_family)
            else { return false }
            return unsafe getnameinfo(
                address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return isNumber && isLoopback(String(decoding: bytes, as: UTF8.self))
    }
}
