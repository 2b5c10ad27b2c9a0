// SPDX-License-Identifier: Apache-2.0

internal import CSandbox

/// One of the things that keep a worker from doing anything but decoding.
public enum SandboxLayer: String, Hashable, Sendable, CaseIterable {
    /// Any call of the system but the few that decoding needs kills the worker (seccomp).
    case systemCalls
    /// No program that it might run could have more rights than it has.
    case privileges
    /// No file can be opened, not even for reading (Landlock).
    case files
    /// It has a network of its own, in which there is nothing.
    case network
    /// It is nobody outside, whoever it is inside (a user namespace).
    case users
    /// It sees no other process (a process namespace).
    case processes
    /// Memory, time and open files have an end, and nothing is dumped to disk.
    case resources
    /// It dies with its host.
    case parent

    private var bit: Int {
        switch self {
        case .systemCalls: calotype_layer_system_calls
        case .privileges: calotype_layer_privileges
        case .files: calotype_layer_files
        case .network: calotype_layer_network
        case .users: calotype_layer_users
        case .processes: calotype_layer_processes
        case .resources: calotype_layer_resources
        case .parent: calotype_layer_parent
        }
    }

    static func layers(_ bits: UInt32) -> Set<SandboxLayer> {
        Set(allCases.filter { Int(bits) & $0.bit != 0 })
    }

    /// What must hold wherever pictures of strangers are decoded; the rest depends on the machine, and
    /// containers often forbid it.
    public static let essential: Set<SandboxLayer> = [.systemCalls, .privileges, .resources]
}
