// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Dates as they are typed, as ranges of days since 1970.
enum DateTerm {
    /// Parses `2023`, `2023-05`, `2023-05-14` or a range such as `2021..2023-05`.
    static func days(_ text: String) -> ClosedRange<Int>? {
        if let dots = text.utf8.firstRange(of: "..".utf8) {
            let (first, last) = (text[..<dots.lowerBound], text[dots.upperBound...])
            guard let start = period(first), let end = period(last),
                start.lowerBound <= end.upperBound
            else { return nil }
            return start.lowerBound...end.upperBound
        }
        return period(text[...])
    }

    /// Parses a season or month and its year, such as `summer 2023`.
    static func days(name: String, year text: String) -> ClosedRange<Int>? {
        guard let year = year(text[...]) else { return nil }
        let name = name.lowercased()
        if let season = seasons.firstIndex(where: { $0.contains(name) }) {
            // Spring begins in March; winter ends in the next year.
            let first = CalendarDate(year: year, month: 3 + 3 * season, day: 1)
            let end = CalendarDate(
                year: season < 3 ? year : year + 1, month: season < 3 ? 6 + 3 * season : 3, day: 1)
            return first.daysSince1970...end.daysSince1970 - 1
        }
        guard let month = months.firstIndex(where: { $0.contains(name) }) else { return nil }
        return days(year, month + 1)
    }

    private static let seasons = [
        ["spring", "frühling", "frühjahr"], ["summer", "sommer"], ["autumn", "fall", "herbst"],
        ["winter"],
    ]

    private static let months = [
        ["january", "jan", "januar"], ["february", "feb", "februar"], ["march", "mar", "märz"],
        ["april", "apr"], ["may", "mai"], ["june", "jun", "juni"], ["july", "jul", "juli"],
        ["august", "aug"], ["september", "sep", "sept"], ["october", "oct", "oktober", "okt"],
        ["november", "nov"], ["december", "dec", "dezember", "dez"],
    ]

    private static func period(_ text: Substring) -> ClosedRange<Int>? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let first = parts.first, let year = year(first) else { return nil }
        switch parts.count {
        case 1:
            return CalendarDate(year: year, month: 1, day: 1).daysSince1970...CalendarDate(
                year: year + 1, month: 1, day: 1
            ).daysSince1970 - 1
        case 2: return number(parts[1], 1...12).flatMap { days(year, $0) }
        case 3:
            guard let month = number(parts[1], 1...12), let all = days(year, month),
                let day = number(parts[2], 1...all.count)
            else { return nil }
            let number = all.lowerBound + day - 1
            return number...number
        default: return nil
        }
    }

    /// The days of a month.
    private static func days(_ year: Int, _ month: Int) -> ClosedRange<Int>? {
        let next = CalendarDate(
            year: month < 12 ? year : year + 1, month: month < 12 ? month + 1 : 1, day: 1)
        return CalendarDate(year: year, month: month, day: 1).daysSince1970...next.daysSince1970 - 1
    }

    private static func year(_ text: Substring) -> Int? {
        text.utf8.count == 4 ? number(text, 1826...2199) : nil
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.count <= 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(text), range.contains(number)
        else { return nil }
        return number
    }
}
