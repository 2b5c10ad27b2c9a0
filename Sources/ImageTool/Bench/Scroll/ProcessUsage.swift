// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import Foundation

/// What the process takes of the machine.
enum ProcessUsage {
    /// The time that all threads have computed, in seconds.
    static var processorSeconds: Double {
        var usage = rusage()
        guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
        return [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000
        }
    }

    /// The most bytes that the process has held in memory since ``forgetPeak()``, or since it began;
    /// 0 where the system does not say.
    static var peakResidentByteCount: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return kibibytes << 10
    }

    /// Begins to look for the peak of memory anew, where the system can.
    ///
    /// - SeeAlso: `proc(5)`, `/proc/pid/clear_refs`.
    static func forgetPeak() {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    }
}
