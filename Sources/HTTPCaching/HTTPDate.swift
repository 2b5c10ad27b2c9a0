// SPDX-License-Identifier: Apache-2.0

/// Parses the three date formats of HTTP.
///
/// - SeeAlso: RFC 9110, section 5.6.7.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the seconds since 1970, `nil` for an invalid date.
    static func seconds(_ text: String) -> Int? {
        // `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
        // `Sun Nov  6 08:49:37 1994`: six parts, or five in asctime's order.
        let parts = text.split { " ,-".contains($0) }
        guard parts.count == 6 && parts[5] == "GMT" || parts.count == 5 else { return nil }
        let isShort = parts.count == 5
        guard let day = number(parts[isShort ? 2 : 1], 1...31),
            let month = months.firstIndex(of: String(parts[isShort ? 1 : 2])),
            var year = number(parts[isShort ? 4 : 3], 0...9999)
        else { return nil }
        let time = parts[isShort ? 3 : 4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = number(time[0], 0...23),
            let minute = number(time[1], 0...59), let second = number(time[2], 0...60)
        else { return nil }
        // Two digits are a year from 1970 to 2069.
        if parts[isShort ? 4 : 3].utf8.count == 2 { year += year < 70 ? 2000 : 1900 }
        return ((days(year, month + 1, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
            return nil
        }
        return range.contains(number) ? number : nil
    }

    /// Returns the days since 1970 in the Gregorian calendar.
    ///
    /// Years start in March here, so that the leap
    /// day is the last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let leapDays = year / 4 - year / 100 + year / 400
        return year * 365 + leapDays + dayOfYear - 719_468
    }
}
