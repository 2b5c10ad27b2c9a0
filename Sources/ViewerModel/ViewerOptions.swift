// SPDX-License-Identifier: Apache-2.0

package import Pixels

/// The arguments of the viewer.
package struct ViewerOptions: Hashable, Sendable {
    /// The file or the folder that is opened.
    package private(set) var path = "."
    /// The file of the profile that replaces that of the monitor; empty for no profile.
    package private(set) var profile: String?
    /// Whether a window of this process is opened, although another process may display files.
    package private(set) var isNewInstance = false
    /// Whether the times at which images appear are printed.
    package private(set) var measures = false
    /// The time in which the grid is scrolled to its end, in seconds.
    package private(set) var scrollSeconds: Double?

    /// The size of the window in units of the desktop.
    package private(set) var size = PixelSize(width: 1280, height: 800)

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
            case "--size":
                guard let size = rest.popFirst().flatMap(Self.size) else { return nil }
                self.size = size
            case "--new-instance": isNewInstance = true
            case "--measure": (measures, isNewInstance) = (true, true)
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

    private static func size(_ text: String) -> PixelSize? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1],
            100...16_384 ~= width, 100...16_384 ~= height
        else { return nil }
        return PixelSize(width: width, height: height)
    }
}
