// SPDX-License-Identifier: Apache-2.0

/// A date and time of day on the clock of a camera.
///
/// Cameras write local time, so that the instant is unknown without ``utcOffset``.
public struct PhotoDate: Hashable, Sendable {
    /// The year, from 1 to 9999.
    public var year: Int
    /// The month, from 1 to 12.
    public var month: Int
    /// The day of the month, from 1 to 31.
    public var day: Int
    /// The hour, from 0 to 23.
    public var hour = 0
    /// The minute, from 0 to 59.
    public var minute = 0
    /// The second, from 0 to 60.
    public var second = 0
    /// The fraction of the second in nanoseconds; `nil` if it is not stated.
    public var nanoseconds: Int?
    /// The offset of the clock from UTC in minutes, positive to the east; `nil` if it is not stated.
    public var utcOffset: Int?

    package init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Parses the form of EXIF, `2024:02:29 23:59:59`; `nil` for an invalid date, as from an unset clock.
    ///
    /// - Parameters:
    ///   - text: the date, with any separators; the time may be missing.
    ///   - fraction: the decimal digits of the fraction of a second.
    ///   - offset: the offset from UTC, such as `+02:00`.
    public init?(exif text: String, fraction: String? = nil, offset: String? = nil) {
        let numbers = text.utf8.split(omittingEmptySubsequences: true) {
            !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }.map { Int(String(decoding: $0, as: UTF8.self)) ?? -1 }
        guard numbers.count >= 3, (1...9999).contains(numbers[0]),
            (1...12).contains(numbers[1]), (1...31).contains(numbers[2])
        else { return nil }
        (year, month, day) = (numbers[0], numbers[1], numbers[2])
        if numbers.count >= 6 {
            guard numbers[3] < 24, numbers[4] < 60, numbers[5] <= 60,
                numbers[3...5].allSatisfy({ $0 >= 0 })
            else { return nil }
            (hour, minute, second) = (numbers[3], numbers[4], numbers[5])
        }
        nanoseconds = fraction.flatMap(Self.nanoseconds)
        utcOffset = offset.flatMap(Self.minutes)
    }

    private static func nanoseconds(_ digits: String) -> Int? {
        let digits = digits.utf8.prefix { (0x30...0x39).contains($0) }.prefix(9)
        guard !digits.isEmpty else { return nil }
        let padded = String(decoding: digits, as: UTF8.self)
        return Int(padded + String(repeating: "0", count: 9 - digits.count))
    }

    private static func minutes(_ offset: String) -> Int? {
        if offset == "Z" { return 0 }
        let isAhead = offset.utf8.first == UInt8(ascii: "+")
        guard isAhead || offset.utf8.first == UInt8(ascii: "-") else { return nil }
        let parts = offset.dropFirst().split(separator: ":")
        guard parts.count == 2, let hours = Int(parts[0]), let minutes = Int(parts[1]),
            (0...15).contains(hours), (0...59).contains(minutes)
        else { return nil }
        return (isAhead ? 1 : -1) * (hours * 60 + minutes)
    }
}

extension PhotoDate: CustomStringConvertible {
    /// The date in ISO 8601, such as `2024-02-29T23:59:59.25+02:00`.
    public var description: String {
        let digits = { (value: Int, count: Int) in
            String(repeating: "0", count: max(0, count - String(value).utf8.count)) + String(value)
        }
        var text = "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
        text += "T\(digits(hour, 2)):\(digits(minute, 2)):\(digits(second, 2))"
        if let nanoseconds {
            var fraction = Substring(digits(nanoseconds, 9))
            while fraction.last == "0", fraction.utf8.count > 1 { fraction.removeLast() }
            text += ".\(fraction)"
        }
        if let utcOffset {
            let magnitude = Int(utcOffset.magnitude)
            text += utcOffset < 0 ? "-" : "+"
            text += "\(digits(magnitude / 60, 2)):\(digits(magnitude % 60, 2))"
        }
        return text
    }
}
