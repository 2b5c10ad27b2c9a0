// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Synchronization

/// Reads the memory status of Linux from the files of the system and of the process's control group
/// (version 2).
///
/// Where the kernel permits it, a wait ends as soon as tasks stall on memory for 10 % of two seconds,
/// or when the group meets a limit; it ends after five seconds in any case. Without such files, as on
/// other systems, memory is never short.
public final class LinuxMemoryFiles: MemoryStatusSource {
    /// 10 % of two seconds, in microseconds: windows of whole two seconds need no privilege.
    private static let trigger = "some 200000 2000000"
    private static let longestWait: Duration = .seconds(5)

    private let pressure: OpenFile?
    private let group: String?
    private let events: OpenFile?
    /// Whether the kernel signals pressure.
    private let isTold: Mutex<Bool>
    /// A pipe that ends the wait once it is written to.
    private let ends: (readEnd: OpenFile, writeEnd: OpenFile)?

    /// - Parameters:
    ///   - systemFolder: the folder of the files of the system.
    ///   - groupsFolder: the folder of the control groups.
    public init(systemFolder: String = "/proc", groupsFolder: String = "/sys/fs/cgroup") {
        let group = OpenFile("\(systemFolder)/self/cgroup", O_RDONLY)?.text()
            .flatMap(Self.groupPath).map { groupsFolder + $0 }
        self.group = group
        // The process affects the pressure within its group, not that of the system.
        let pressurePaths = [
            group.map { "\($0)/memory.pressure" }, "\(systemFolder)/pressure/memory",
        ]
        .compactMap { $0 }
        let watched = pressurePaths.lazy.compactMap { OpenFile($0, O_RDWR | O_NONBLOCK) }.first
        let isTold = watched?.write(Self.trigger) ?? false
        self.isTold = Mutex(isTold)
        pressure = watched ?? pressurePaths.lazy.compactMap { OpenFile($0, O_RDONLY) }.first
        events = group.flatMap { OpenFile("\($0)/memory.events", O_RDONLY) }
        ends = OpenFile.pipe()
    }

    public func next() -> MemoryStatusFiles? {
        // Without it the wait could not be ended.
        guard let ends else { return nil }
        let told = isTold.withLock { $0 } ? pressure : nil
        // The system ignores descriptors below 0.
        var waits = [
            pollfd(fd: ends.readEnd.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: events?.descriptor ?? -1, events: Int16(POLLPRI), revents: 0),
            pollfd(fd: told?.descriptor ?? -1, events: Int16(POLLPRI), revents: 0),
        ]
        _ = unsafe poll(
            &waits, nfds_t(waits.count), Int32(Self.longestWait / .milliseconds(1)))
        // The file is gone with its group and would be ready forever.
        if waits[2].revents & Int16(POLLERR) != 0 { isTold.withLock { $0 = false } }
        return waits[0].revents == 0 ? read() : nil
    }

    public func stop() { _ = ends?.writeEnd.write("") }

    /// Reads all files.
    func read() -> MemoryStatusFiles {
        var files = MemoryStatusFiles()
        files.pressure = pressure?.text()
        // By the same descriptor, because reading from it arms the next notification.
        files.events = events?.text()
        files.current = groupText("memory.current")
        files.high = groupText("memory.high")
        files.max = groupText("memory.max")
        files.statistics = groupText("memory.stat")
        return files
    }

    private func groupText(_ name: String) -> String? {
        group.flatMap { OpenFile("\($0)/\(name)", O_RDONLY) }?.text()
    }

    /// Returns the path of the process's group of version 2 in the text of `/proc/self/cgroup`; empty
    /// for the root.
    static func groupPath(_ text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix("0::/") }.map {
            $0 == "0::/" ? "" : String($0.dropFirst(3))
        }
    }
}
