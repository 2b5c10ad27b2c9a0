// SPDX-License-Identifier: Apache-2.0

/// The contents of the system's files about memory; `nil` for a missing file.
public struct MemoryStatusFiles: Hashable, Sendable {
    /// `/proc/pressure/memory`, or `memory.pressure` of the control group.
    public var pressure: String?
    /// `memory.events` of the control group.
    public var events: String?
    /// `memory.current` of the control group.
    public var current: String?
    /// `memory.high` of the control group.
    public var high: String?
    /// `memory.max` of the control group.
    public var max: String?
    /// `memory.stat` of the control group.
    public var statistics: String?

    /// Creates a value without any file.
    public init() {}
}

/// The memory status of the system and of the process's control group.
///
/// - SeeAlso: Linux, `Documentation/accounting/psi.rst` and
///   `Documentation/admin-guide/cgroup-v2.rst`.
struct MemoryStatus: Hashable, Sendable {
    /// The share of time in which tasks stall on memory.
    struct Stall: Hashable, Sendable {
        /// The percentage of the last 10 seconds in which some tasks stalled.
        var some = 0.0
        /// The percentage of the last 10 seconds in which all tasks stalled.
        var full = 0.0
    }

    /// The numbers of times that a control group has met its limits.
    struct Events: Hashable, Sendable {
        var high = 0
        var max = 0
        var outOfMemory = 0
    }

    var stall: Stall?
    var events: Events?
    /// The bytes in use by the control group, without inactive pages of files, which grow up to the
    /// limit.
    var byteCount: Int?
    /// The number of bytes above which the control group is throttled; `nil` for no limit.
    var highByteCount: Int?
    /// The maximum number of bytes of the control group; `nil` for no limit.
    var maximumByteCount: Int?

    init(_ files: MemoryStatusFiles) {
        stall = files.pressure.flatMap(Self.stall)
        events = files.events.map(Self.events)
        let inactive = files.statistics.flatMap { Self.value(of: "inactive_file", in: $0) } ?? 0
        byteCount = files.current.flatMap(Self.limit).map { Swift.max(0, $0 - inactive) }
        highByteCount = files.high.flatMap(Self.limit)
        maximumByteCount = files.max.flatMap(Self.limit)
    }

    /// Returns the memory pressure.
    ///
    /// Critical: all tasks stall for 5 % of the time or some for 40 %, the group uses 95 % of its
    /// maximum, or a process was to be killed. Warning: some tasks stall for 10 % of the time, the group
    /// uses 85 % of its maximum or all that it may use unthrottled, or it met a limit.
    ///
    /// - Parameter earlier: the status that was read before, for events since then.
    /// - Returns: the level of this status and of the events in between.
    func level(after earlier: MemoryStatus?) -> MemoryPressureLevel {
        let used = byteCount ?? 0
        let share = maximumByteCount.map { Double(used) / Double(Swift.max(1, $0)) } ?? 0
        let isSlowedDown = highByteCount.map { used > 0 && used >= $0 } ?? false
        let stall = stall ?? Stall()
        var happened = Events()
        if let events, let earlier = earlier?.events {
            happened.high = events.high - earlier.high
            happened.max = events.max - earlier.max
            happened.outOfMemory = events.outOfMemory - earlier.outOfMemory
        }
        if stall.full >= 5 || stall.some >= 40 || share >= 0.95 || happened.outOfMemory > 0 {
            return .critical
        }
        let hasMetLimit = happened.high > 0 || happened.max > 0
        return stall.some >= 10 || share >= 0.85 || isSlowedDown || hasMetLimit
            ? .warning : .normal
    }

    /// Parses lines such as `some avg10=0.22 avg60=0.17 avg300=1.11 total=58761459`.
    private static func stall(_ text: String) -> Stall? {
        var stall: Stall?
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let kind = words.first,
                let average = words.first(where: { $0.hasPrefix("avg10=") }),
                let percentage = Double(average.dropFirst(6))
            else { continue }
            if kind == "some" { stall = Stall(some: percentage, full: stall?.full ?? 0) }
            if kind == "full" { stall = Stall(some: stall?.some ?? 0, full: percentage) }
        }
        return stall
    }

    private static func events(_ text: String) -> Events {
        Events(
            high: value(of: "high", in: text) ?? 0, max: value(of: "max", in: text) ?? 0,
            outOfMemory: value(of: "oom", in: text) ?? 0)
    }

    /// Returns the number in a line such as `high 12`.
    private static func value(of name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == name { return Int(words[1]) }
        }
        return nil
    }

    /// Parses a number of bytes, or `max` for no limit.
    private static func limit(_ text: String) -> Int? {
        text.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }.flatMap {
            $0 >= 0 ? $0 : nil
        }
    }
}
