// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import Pixels

extension ImgproxyOptions {
    /// Parses an option that crops the image, or that surrounds or covers it.
    mutating func readFrame(
        _ name: Substring, _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) {
        switch name {
        case "crop", "c": options.region = try crop(arguments, text)
        case "trim", "t": try readTrimming(arguments, text)
        case "extend", "ex": options.frame.extending = try extending(arguments[...], text)
        case "padding", "pd": options.frame.margins = try margins(arguments, text)
        case "watermark", "wm": options.frame.watermark = try watermark(arguments, text)
        default: throw unsupported(text)
        }
    }

    /// Parses the name of a gravity and its offsets.
    func gravity(
        _ arguments: ArraySlice<Substring>, _ text: Substring, allowsSmart: Bool
    ) throws(ServerError) -> Gravity {
        let offsets = Array(arguments.dropFirst())
        guard let name = arguments.first, offsets.count <= 2 else { throw unsupported(text) }
        let numbers = try offsets.map { offset throws(ServerError) in
            try number(offset, -1e5...1e5, text) ?? 0
        }
        let x = numbers.first ?? 0
        let y = numbers.count > 1 ? numbers[1] : 0
        switch name {
        case "fp":
            guard numbers.count == 2, 0...1 ~= x, 0...1 ~= y else { throw invalid(text) }
            return Gravity(focusX: x, focusY: y)
        case "sm" where allowsSmart:
            guard x == 0, y == 0 else { throw unsupported(text) }
            var gravity = Gravity.center
            gravity.isSmart = true
            return gravity
        default:
            guard let anchor = Self.anchors[name] else { throw unsupported(text) }
            // Offsets lead away from the edge.
            return Gravity(
                x: anchor.x, y: anchor.y, offsetX: anchor.x == 1 ? -x : x,
                offsetY: anchor.y == 1 ? -y : y)
        }
    }

    private static let anchors: [Substring: Gravity] = [
        "ce": .center, "no": Gravity(x: 0.5, y: 0), "so": Gravity(x: 0.5, y: 1),
        "ea": Gravity(x: 1, y: 0.5), "we": Gravity(x: 0, y: 0.5), "noea": Gravity(x: 1, y: 0),
        "nowe": Gravity(x: 0, y: 0), "soea": Gravity(x: 1, y: 1), "sowe": Gravity(x: 0, y: 1),
    ]

    /// Parses width, height and gravity.
    private func crop(
        _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) -> RenditionOptions.Region {
        let sides = try arguments.prefix(2).map { side throws(ServerError) in
            try number(side, 0...1e6, text) ?? 0
        }
        guard let width = sides.first else { throw invalid(text) }
        let height = sides.count > 1 ? sides[1] : 0
        let rest = arguments.dropFirst(2)
        let gravity =
            rest.isEmpty ? nil : try gravity(rest, text, allowsSmart: true)
        if width == 0, height == 0 { return .whole }
        return .crop(RenditionOptions.Crop(width: width, height: height, gravity: gravity))
    }

    /// Parses threshold, colour, and whether opposite sides lose as much.
    private mutating func readTrimming(
        _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) {
        guard let first = arguments.first, arguments.count <= 4,
            let threshold = try number(first, 0...255, text)
        else { throw invalid(text) }
        func isTrue(_ index: Int) -> Bool {
            arguments.count > index && Self.isTrue(arguments[index])
        }
        options.trimming = Trimming(
            threshold: threshold,
            color: arguments.count > 1 ? try color([arguments[1]], text) : nil,
            isHorizontallyEqual: isTrue(2), isVerticallyEqual: isTrue(3))
        // The frames of an animation would have different sizes.
        options.isStill = true
    }

    /// Parses whether to extend, and the gravity.
    func extending(
        _ arguments: ArraySlice<Substring>, _ text: Substring
    ) throws(ServerError) -> FrameOptions.Extending? {
        guard let first = arguments.first else { throw invalid(text) }
        let rest = arguments.dropFirst()
        let gravity =
            rest.isEmpty ? .center : try gravity(rest, text, allowsSmart: false)
        return Self.isTrue(first) ? FrameOptions.Extending(gravity: gravity) : nil
    }

    /// Parses one to four margins in the order of CSS; an empty one is that of the opposite side.
    private func margins(
        _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) -> FrameOptions.Margins? {
        guard 1...4 ~= arguments.count, arguments.contains(where: { !$0.isEmpty }) else {
            throw invalid(text)
        }
        let range = 0...Double(maximumSide)
        let sides = try arguments.map { side throws(ServerError) -> Int? in
            guard let margin = try number(side, range, text) else { return nil }
            guard margin == margin.rounded() else { throw invalid(text) }
            return Int(margin)
        }
        func side(_ index: Int, or other: Int) -> Int {
            (sides.count > index ? sides[index] : nil) ?? other
        }
        let top = side(0, or: 0)
        let right = side(1, or: top)
        let margins = FrameOptions.Margins(
            top: top, right: right, bottom: side(2, or: top), left: side(3, or: right))
        return margins == FrameOptions.Margins(top: 0, right: 0, bottom: 0, left: 0)
            ? nil : margins
    }

    /// Parses opacity, position, offsets and scale.
    private func watermark(
        _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) -> FrameOptions.Watermark? {
        guard let first = arguments.first, arguments.count <= 5,
            let opacity = try number(first, 0...1, text)
        else { throw invalid(text) }
        let isTiled = arguments.count > 1 && arguments[1] == "re"
        let position =
            arguments.count > 1 && !arguments[1].isEmpty && !isTiled ? arguments[1] : "ce"
        guard position != "fp", position != "sm" else { throw unsupported(text) }
        let gravity = try gravity(
            [position] + arguments.dropFirst(2).prefix(2), text, allowsSmart: false)
        let scale = arguments.count > 4 ? try number(arguments[4], 0...1, text) ?? 0 : 0
        guard opacity > 0 else { return nil }
        return FrameOptions.Watermark(
            opacity: opacity, gravity: gravity, isTiled: isTiled,
            scale: scale > 0 ? scale : nil)
    }

    /// Parses a number; `nil` if the text is empty.
    private func number(
        _ argument: Substring, _ range: ClosedRange<Double>, _ text: Substring
    ) throws(ServerError) -> Double? {
        if argument.isEmpty { return nil }
        guard let number = Double(argument), range ~= number else { throw invalid(text) }
        return number
    }
}
