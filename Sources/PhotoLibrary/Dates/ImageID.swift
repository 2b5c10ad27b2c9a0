// SPDX-License-Identifier: Apache-2.0

/// The number of an image in a library; the order of the numbers is that of the timeline.
///
/// The upper bits are the capture time, so that ranges of days are ranges of numbers, and a search
/// that returns numbers in descending order returns the newest images first. The lower 20 bits
/// distinguish the images of one second: the first one has the largest number, because the timeline
/// is read from the end.
struct ImageID: Hashable, Comparable, Sendable {
    static let serialBitCount: Int64 = 20
    private static let largestSerial: Int64 = 1 << serialBitCount - 1

    let rawValue: Int64

    init(rawValue: Int64) { self.rawValue = rawValue }

    /// The number of the first image of a second.
    init(firstAt time: CaptureTime) {
        // Years from -30,000 to 30,000.
        let seconds = max(-(1 << 40), min(1 << 40, Int64(time.seconds)))
        rawValue = seconds << Self.serialBitCount | Self.largestSerial
    }

    static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

    var time: CaptureTime { CaptureTime(seconds: Int(rawValue >> Self.serialBitCount)) }
    /// The number of days since 1970.
    var day: Int { time.day }

    /// The number of the next image of the same second, or of the second before.
    var next: ImageID { ImageID(rawValue: rawValue - 1) }

    /// The smallest number of the same second.
    var lowestOfSecond: Int64 { rawValue & ~Self.largestSerial }

    /// The numbers of the images of some days.
    static func range(ofDays days: ClosedRange<Int>) -> ClosedRange<ImageID> {
        let limit = 1 << 40 / 86_400
        let first = CaptureTime(seconds: max(-limit, days.lowerBound) * 86_400)
        let last = CaptureTime(seconds: min(limit, days.upperBound) * 86_400 + 86_399)
        let lower = ImageID(rawValue: Int64(first.seconds) << serialBitCount)
        return lower...max(lower, ImageID(firstAt: last))
    }
}
