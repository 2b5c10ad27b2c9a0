// SPDX-License-Identifier: Apache-2.0

/// A text that equals another one only if both have the same bytes in UTF-8.
///
/// `String` compares by canonical equivalence: `é` as one code point (NFC) and `é` as two (NFD) are
/// equal, and so are the Kelvin sign and the letter K. File systems compare names by bytes: both may
/// be in one folder, and are two files. Every property that contains a name, a path or an address and
/// takes part in `==` or `hash(into:)` is one of these; so is every key of a dictionary of names.
///
///     struct Key: Hashable {
///         @ComparedByBytes var path: String
///     }
@propertyWrapper
public struct ComparedByBytes: Hashable, Sendable {
    public var wrappedValue: String

    public init(wrappedValue: String) { self.wrappedValue = wrappedValue }

    public init(_ text: String) { wrappedValue = text }

    public static func == (one: Self, other: Self) -> Bool {
        var (one, other) = (one.wrappedValue, other.wrappedValue)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                unsafe one.count == other.count && one.elementsEqual(other)
            }
        }
    }

    public func hash(into hasher: inout Hasher) {
        var text = wrappedValue
        text.withUTF8 { bytes in
            hasher.combine(bytes.count)
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }
}

extension ComparedByBytes: Codable {
    /// Reads the text alone, as if there were no wrapper.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(String.self)
    }

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
