// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Foundation

/// The resource usage of this process.
enum ProcessUsage {
    /// The CPU time of all threads, in seconds.
    static var processorSeconds: Double {
        var usage = rusage()
        guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
        let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        let microseconds = Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
        return seconds + microseconds / 1_000_000
    }

    /// The peak resident memory since ``resetPeak()``, or since the start of the process, in bytes;
    /// 0 on systems without `/proc`.
    static var peakResidentByteCount: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return kibibytes << 10
    }

    /// Resets the peak resident memory, on systems that support it.
    ///
    /// - SeeAlso: `proc(5)`, `/proc/pid/clear_refs`.
    static func resetPeak() {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    }
}
