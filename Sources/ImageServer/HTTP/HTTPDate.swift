// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
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
            CalendarDate(year: year, month: month + 1, day: day).daysSince1970 * 86_400
            + time[0] * 3_600 + time[1] * 60 + time[2]
    }

    /// The value of a header field.
    var text: String {
        let dayNumber = Int((Double(seconds) / 86_400).rounded(.down))
        let time = seconds - dayNumber * 86_400
        let date = CalendarDate(daysSince1970: dayNumber)
        let name = Self.days[(dayNumber % 7 + 7) % 7]
        let clock = [time / 3_600, time / 60 % 60, time % 60].map(Self.twoDigits)
        return "\(name), \(Self.twoDigits(date.day)) \(Self.months[date.month - 1]) \(date.year) "
            + clock.joined(separator: ":") + " GMT"
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
