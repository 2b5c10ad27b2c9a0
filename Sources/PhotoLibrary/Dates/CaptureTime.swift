// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A time on the clock of a camera, which belongs to no time zone.
struct CaptureTime: Hashable, Comparable, Sendable {
    /// Seconds since 1 January 1970 by that clock.
    let seconds: Int

    static func < (one: Self, other: Self) -> Bool { one.seconds < other.seconds }

    init(seconds: Int) { self.seconds = seconds }

    init(_ date: CalendarDate, hour: Int = 12, minute: Int = 0, second: Int = 0) {
        seconds = date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second
    }

    init(_ date: PhotoDate) {
        self.init(
            CalendarDate(year: date.year, month: date.month, day: date.day),
            hour: date.hour, minute: date.minute, second: date.second)
    }

    /// The local time of an instant, such as the modification time of a file, in nanoseconds since
    /// 1970.
    init(nanosecondsSince1970 nanoseconds: Int) {
        var instant = time_t(floorDivide(nanoseconds, 1_000_000_000))
        var fields = unsafe tm()
        let isKnown = unsafe localtime_r(&instant, &fields) != nil
        seconds = unsafe instant + (isKnown ? fields.tm_gmtoff : 0)
    }

    /// The number of days since 1970.
    var day: Int { floorDivide(seconds, 86_400) }

    /// The time in ISO 8601, such as `2024-02-29T23:59:59`.
    var text: String {
        let time = seconds - day * 86_400
        let padded = [time / 3_600, time / 60 % 60, time % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return CalendarDate(daysSince1970: day).text + "T" + padded.joined(separator: ":")
    }
}

/// Returns the quotient, rounded down; `divisor` is positive.
func floorDivide(_ value: Int, _ divisor: Int) -> Int {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
}

extension CaptureTime {
    /// Finds a date in a file name, such as `IMG_20240229_235959.jpg` or `2024-02-29 23.59.59.png`.
    ///
    /// - Parameters:
    ///   - name: the file name.
    ///   - modified: the modification time of the file, which states the time of day if the name
    ///     contains the same day without a time.
    init?(fileName name: String, modified: CaptureTime) {
        let bytes = Array(name.utf8)
        let runs = DigitRun.all(in: bytes)
        for index in runs.indices {
            guard let (date, next) = Self.date(runs, at: index, bytes) else { continue }
            if runs[index].count == 13 {
                self = date
            } else if runs[index].count >= 14 {
                guard let time = runs[index].time(from: 8) else { continue }
                seconds = date.day * 86_400 + time
            } else if let time = Self.timeOfDay(runs, at: next) {
                seconds = date.day * 86_400 + time
            } else {
                self = modified.day == date.day ? modified : date
            }
            return
        }
        return nil
    }

    /// The date that begins in the run at `index`, and the index of the run after it.
    private static func date(
        _ runs: [DigitRun], at index: Int, _ bytes: [UInt8]
    ) -> (date: CaptureTime, next: Int)? {
        let run = runs[index]
        switch run.count {
        case 8, 14, 17:
            guard let date = calendarDate(run.number(0..<4), run.number(4..<6), run.number(6..<8)),
                (1990...2099).contains(date.year)
            else { return nil }
            return (CaptureTime(date), index + 1)
        case 13:
            // Milliseconds since 1970, between the years 2001 and 2033.
            let milliseconds = run.number(0..<13)
            guard (1_000_000_000_000..<2_000_000_000_000).contains(milliseconds) else { return nil }
            return (CaptureTime(nanosecondsSince1970: milliseconds * 1_000_000), index + 1)
        case 4:
            guard index + 2 < runs.count, runs[index + 1].count == 2, runs[index + 2].count == 2,
                runs[index + 1].start == run.end + 1, runs[index + 2].start == run.end + 4,
                bytes[run.end] == bytes[run.end + 3], Self.separators.contains(bytes[run.end]),
                let date = calendarDate(
                    run.number(0..<4), runs[index + 1].number(0..<2),
                    runs[index + 2].number(0..<2))
            else { return nil }
            return (CaptureTime(date), index + 3)
        default: return nil
        }
    }

    private static let separators = Set("-_.: ".utf8)

    private static func calendarDate(_ year: Int, _ month: Int, _ day: Int) -> CalendarDate? {
        let date = CalendarDate(year: year, month: month, day: day)
        guard (1826...2099).contains(year), (1...12).contains(month), day >= 1,
            // Such as 31 April.
            CalendarDate(daysSince1970: date.daysSince1970) == date
        else { return nil }
        return date
    }

    /// Seconds since midnight: `235959`, `235959123` or `23.59.59`.
    private static func timeOfDay(_ runs: [DigitRun], at index: Int) -> Int? {
        guard index < runs.count, runs[index].start - runs[index - 1].end <= 4 else { return nil }
        if runs[index].count == 6 || runs[index].count == 9 { return runs[index].time(from: 0) }
        guard index + 2 < runs.count, runs[index...index + 2].allSatisfy({ $0.count == 2 }),
            runs[index + 1].start == runs[index].end + 1,
            runs[index + 2].start == runs[index + 1].end + 1
        else { return nil }
        return DigitRun.time(
            runs[index].number(0..<2), runs[index + 1].number(0..<2), runs[index + 2].number(0..<2))
    }
}

/// Consecutive digits in a file name.
private struct DigitRun {
    let start: Int
    let digits: ArraySlice<UInt8>

    var count: Int { digits.count }
    var end: Int { start + count }

    static func all(in bytes: [UInt8]) -> [DigitRun] {
        var runs: [DigitRun] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
            if end > start { runs.append(DigitRun(start: start, digits: bytes[start..<end])) }
            start = end + 1
        }
        return runs
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The number that some of the digits form, at most 17.
    func number(_ range: Range<Int>) -> Int {
        digits.dropFirst(range.lowerBound).prefix(range.count)
            .reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    func time(from offset: Int) -> Int? {
        Self.time(
            number(offset..<offset + 2), number(offset + 2..<offset + 4),
            number(offset + 4..<offset + 6))
    }

    static func time(_ hour: Int, _ minute: Int, _ second: Int) -> Int? {
        guard hour < 24, minute < 60, second < 60 else { return nil }
        return hour * 3_600 + minute * 60 + second
    }
}
