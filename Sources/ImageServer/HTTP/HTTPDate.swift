// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A date in whole seconds in the format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// The two obsolete formats (RFC 9110, section 5.6.7) are not parsed; headers with them are ignored.
struct HTTPDate: Hashable {
    /// Seconds since 1970 without leap seconds.
    let seconds: Int

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    init(seconds: Int) { self.seconds = seconds }

    /// The current date.
    static var now: HTTPDate { HTTPDate(seconds: Int(Date().timeIntervalSince1970)) }

    /// Parses a date; `nil` if `text` has another format.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
            let day = Int(words[1]), (1...31).contains(day),
            let month = Self.months.firstIndex(of: String(words[2])),
            let year = Int(words[3]), (1...9999).contains(year)
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]),
            (0...60).contains(time[2])
        else { return nil }
        seconds =
            Self.dayNumber(year: year, month: month + 1, day: day) * 86_400
            + time[0] * 3_600 + time[1] * 60 + time[2]
    }

    /// The value of a header field.
    var text: String {
        let dayNumber = Int((Double(seconds) / 86_400).rounded(.down))
        let time = seconds - dayNumber * 86_400
        let (year, month, day) = Self.date(dayNumber: dayNumber)
        let name = Self.days[(dayNumber % 7 + 7) % 7]
        let clock = [time / 3_600, time / 60 % 60, time % 60].map(Self.twoDigits)
        return "\(name), \(Self.twoDigits(day)) \(Self.months[month - 1]) \(year) "
            + clock.joined(separator: ":") + " GMT"
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    // Howard Hinnant, “chrono-Compatible Low-Level Date Algorithms”: years begin in March, so that
    // the leap day is the last day; an era is 400 years or 146,097 days.

    private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private static func date(dayNumber: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
