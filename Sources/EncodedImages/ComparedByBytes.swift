// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A string that equals another one only if both have the same bytes in UTF-8.
///
/// `String` compares by canonical equivalence: `é` as one code point (NFC) and `é` as two (NFD) are
/// equal, and so are the Kelvin sign and the letter K. File systems compare names by bytes: both may
/// be in one folder, as two files. Use this type for every property with a name, a path or a URL that
/// takes part in `==` or `hash(into:)`, and for every dictionary key of that kind.
///
///     struct Key: Hashable {
///         @ComparedByBytes var path: String
///     }
@propertyWrapper
public struct ComparedByBytes: Hashable, Sendable {
    /// The string.
    public var wrappedValue: String

    /// Wraps a string, for use as a property wrapper.
    public init(wrappedValue: String) { self.wrappedValue = wrappedValue }

    /// Wraps a string.
    public init(_ text: String) { wrappedValue = text }

    /// Compares the bytes of both strings.
    public static func == (one: Self, other: Self) -> Bool {
        var (one, other) = (one.wrappedValue, other.wrappedValue)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard one.count == other.count, let first = one.baseAddress,
                    let second = other.baseAddress
                else { return one.count == other.count }
                // `elementsEqual` compares byte by byte.
                return unsafe memcmp(first, second, one.count) == 0
            }
        }
    }

    /// Hashes the bytes of the string.
    public func hash(into hasher: inout Hasher) {
        var text = wrappedValue
        text.withUTF8 { bytes in
            hasher.combine(bytes.count)
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }
}

extension ComparedByBytes: Codable {
    /// Decodes a plain string.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(String.self)
    }

    /// Encodes a plain string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension String {
    /// Whether both have the same bytes in UTF-8, unlike `==`; see ``ComparedByBytes``.
    package func hasSameBytes(as other: String) -> Bool {
        ComparedByBytes(self) == ComparedByBytes(other)
    }
}
