// SPDX-License-Identifier: Apache-2.0

internal import CSandbox

/// One of the independent restrictions that confine a worker process.
public enum SandboxLayer: String, Hashable, Sendable, CaseIterable {
    /// A seccomp filter: every system call except the few that decoding requires kills the worker.
    case systemCalls
    /// No new privileges, not dumpable, no environment but `LD_LIBRARY_PATH` and the options of sanitizers.
    case privileges
    /// A Landlock ruleset that denies access to every file, for reading as well.
    case files
    /// A network namespace without interfaces.
    case network
    /// A user namespace without privileges outside of it.
    case users
    /// A process namespace that contains only the worker.
    case processes
    /// Resource limits for memory, processor time, open files and core dumps.
    case resources
    /// A signal that kills the worker when its host ends.
    case parent

    /// What the kernel must provide for the layer, for an error message.
    var requirement: String {
        switch self {
        case .systemCalls: "seccomp filters (CONFIG_SECCOMP_FILTER)"
        case .privileges: "PR_SET_NO_NEW_PRIVS"
        case .files: "Landlock (Linux 5.13 or newer, enabled)"
        case .network: "network namespaces for this user"
        case .users: "user namespaces for this user"
        case .processes: "process namespaces for this user"
        case .resources: "resource limits (setrlimit)"
        case .parent: "PR_SET_PDEATHSIG"
        }
    }

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

    /// Returns the layers of a set of `calotype_layer_…` bits.
    static func layers(_ bits: UInt32) -> Set<SandboxLayer> {
        Set(allCases.filter { Int(bits) & $0.bit != 0 })
    }

    /// The layers that are required to decode untrusted images.
    ///
    /// The others depend on the kernel and are often forbidden in containers.
    public static let essential: Set<SandboxLayer> = [.systemCalls, .privileges, .resources]
}
