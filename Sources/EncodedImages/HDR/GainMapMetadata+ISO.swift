// SPDX-License-Identifier: Apache-2.0

extension GainMapMetadata {
    /// The version of ISO 21496-1 that is read and written.
    private static let version = 0
    private static let multichannel = 0x80
    private static let baseColorSpace = 0x40
    private static let commonDenominator = 0x08

    /// Reads the binary metadata of ISO 21496-1, C.2; `nil` for another version, and for damaged or
    /// invalid values.
    ///
    /// - Parameter bytes: the metadata after its identifier.
    package init?(iso bytes: [UInt8]) {
        var reader = FractionReader(bytes)
        guard reader.integer(2) == Self.version, reader.integer(2) != nil,
            let flags = reader.integer(1)
        else { return nil }
        if flags & Self.commonDenominator != 0 {
            guard let denominator = reader.integer(4) else { return nil }
            reader.denominator = denominator
        }
        guard let base = reader.fraction(), let alternate = reader.fraction() else { return nil }
        var channels: [Channel] = []
        for _ in 0..<(flags & Self.multichannel != 0 ? 3 : 1) {
            guard let minimum = reader.fraction(isSigned: true),
                let maximum = reader.fraction(isSigned: true), let gamma = reader.fraction(),
                let baseOffset = reader.fraction(isSigned: true),
                let alternateOffset = reader.fraction(isSigned: true)
            else { return nil }
            var channel = Channel()
            (channel.minimum, channel.maximum, channel.gamma) = (minimum, maximum, gamma)
            (channel.baseOffset, channel.alternateOffset) = (baseOffset, alternateOffset)
            channels.append(channel)
        }
        self.init(channels[0])
        if channels.count == 3 { self.channels = channels }
        (baseHeadroom, alternateHeadroom) = (base, alternate)
        usesBaseColorSpace = flags & Self.baseColorSpace != 0
        guard isValid else { return nil }
    }

    /// The binary metadata of ISO 21496-1, C.2, without an identifier.
    package var isoBytes: [UInt8] {
        let isMultichannel = Set(channels).count > 1
        var bytes: [UInt8] = [0, 0, 0, 0]
        bytes.append(
            UInt8(
                (isMultichannel ? Self.multichannel : 0)
                    | (usesBaseColorSpace ? Self.baseColorSpace : 0)))
        func append(_ value: Double) {
            let (numerator, denominator) = Self.fraction(value)
            bytes.append(numerator, byteCount: 4)
            bytes.append(denominator, byteCount: 4)
        }
        append(baseHeadroom)
        append(alternateHeadroom)
        for channel in channels.prefix(isMultichannel ? 3 : 1) {
            append(channel.minimum)
            append(channel.maximum)
            append(channel.gamma)
            append(channel.baseOffset)
            append(channel.alternateOffset)
        }
        return bytes
    }

    /// Returns a fraction of 32-bit integers with the largest power of two as its denominator.
    private static func fraction(_ value: Double) -> (numerator: Int, denominator: Int) {
        var denominator = 1 << 28
        while denominator > 1, abs(value * Double(denominator)) > 2_147_483_647 {
            denominator /= 2
        }
        return (Int((value * Double(denominator)).rounded()), denominator)
    }
}

/// Reads numerators and denominators.
private struct FractionReader {
    private let bytes: [UInt8]
    private var offset = 0
    /// The denominator of all fractions; `nil` if each has its own.
    var denominator: Int?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func integer(_ byteCount: Int) -> Int? {
        guard let value = bytes.span.integer(at: offset, byteCount: byteCount) else { return nil }
        offset += byteCount
        return value
    }

    mutating func fraction(isSigned: Bool = false) -> Double? {
        guard let bits = integer(4),
            let divisor = denominator != nil ? denominator : integer(4), divisor > 0
        else { return nil }
        let numerator =
            isSigned ? Int(Int32(truncatingIfNeeded: bits)) : bits
        return Double(numerator) / Double(divisor)
    }
}
