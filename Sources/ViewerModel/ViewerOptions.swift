// SPDX-License-Identifier: Apache-2.0

/// The arguments of the viewer.
package struct ViewerOptions: Hashable, Sendable {
    /// The file or the folder that is opened.
    package private(set) var path = "."
    /// The file of the profile that replaces that of the monitor; empty for no profile.
    package private(set) var profile: String?
    /// Whether the times at which images appear are printed.
    package private(set) var measures = false
    /// The time in which the grid is scrolled to its end, in seconds.
    package private(set) var scrollSeconds: Double?

    /// Parses arguments; `nil` if they are invalid.
    package init?(_ arguments: [String]) {
        var rest = arguments[...]
        var paths: [String] = []
        while let argument = rest.popFirst() {
            switch argument {
            case "--profile":
                guard let file = rest.popFirst(), !file.isEmpty else { return nil }
                profile = file
            case "--no-profile": profile = ""
            case "--measure": measures = true
            case "--scroll":
                guard let text = rest.popFirst(), let seconds = Double(text), seconds > 0,
                    seconds.isFinite
                else { return nil }
                scrollSeconds = seconds
            case "--":
                paths += rest
                rest = []
            default:
                guard !argument.hasPrefix("-") else { return nil }
                paths.append(argument)
            }
        }
        guard paths.count <= 1 else { return nil }
        path = paths.first ?? "."
    }
}
