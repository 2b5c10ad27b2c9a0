// SPDX-License-Identifier: Apache-2.0

/// The three ways in which HTTP writes a date, read as seconds since 1970.
///
/// - SeeAlso: RFC 9110, section 5.6.7.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Returns: `nil` for what is no date.
    static func seconds(_ text: String) -> Int? {
        // `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
        // `Sun Nov  6 08:49:37 1994`: without the day of the week five parts, or day and month first.
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
        // A year of two digits is of the years 1970 to 2069.
        if parts[isShort ? 4 : 3].utf8.count == 2 { year += year < 70 ? 2000 : 1900 }
        return ((days(year, month + 1, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
            return nil
        }
        return range.contains(number) ? number : nil
    }

    /// Days since 1970 in the Gregorian calendar, whose years are counted from March here, so that
    /// the day that some years have more is the last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let leapDays = year / 4 - year / 100 + year / 400
        return year * 365 + leapDays + dayOfYear - 719_468
    }
}
