// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The segment of an address that asks for a size, such as `512x512` or `1024x@2x,q70,webp`.
///
///     segment = size [ "@" density "x" ] *( "," option )
///     size    = width "x" height / width "x" / "_x" height / "_x"
///     option  = "fit" / "fill" / "stretch" / "top" / "bottom" / "left" / "right" / "up" / "gray"
///             / "profile" / "lossless" / "q" 1-100 / "ssim" 0.5-0.999 / "blur" sigma / "still"
///             / the name of a format
///             / "device=" the name of a device, whose options count where the others say nothing
///
/// `_x` leaves the width to the hints of the client; without any it is that of usual pages.
///
/// Numbers are written in one way only, so that equal renditions have equal addresses.
struct SizeSegment {
    let options: PictureOptions

    /// Fails if the segment does not begin like a size, hence is a folder.
    ///
    /// - Parameters:
    ///   - segment: as it stands between two slashes, decoded.
    ///   - maximumSide: the largest width or height in pixels.
    ///   - formats: the names of formats that can be written, by what addresses call them.
    ///   - devices: options with commas between them, by the names of devices.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for a size that cannot be, and for an
    ///   option that there is not.
    init?(
        _ segment: String, maximumSide: Int, formats: [String: String],
        devices: [String: String] = [:]
    ) throws(ServerError) {
        let parts = segment.split(separator: ",", omittingEmptySubsequences: false)
        guard let size = parts.first, let sides = Self.sides(size) else { return nil }
        var options = PictureOptions()
        (options.width, options.height) = try Self.box(sides, maximumSide)
        options.density = try Self.density(size)
        options.leavesWidthOpen = options.width == nil && options.height == nil
        guard !options.leavesWidthOpen || options.density == nil else {
            throw .malformedRequest(reason: "a width that is left open has no density")
        }
        var known: Set<String> = []
        var device: [Substring] = []
        for part in parts.dropFirst() {
            let kind: String
            if part.hasPrefix("device=") {
                device = try Self.device(part.dropFirst("device=".count), devices)
                kind = "a device"
            } else {
                kind = try Self.read(part, into: &options, formats)
            }
            guard known.insert(kind).inserted else {
                throw .malformedRequest(reason: "\u{201C}\(part)\u{201D} says \(kind) again")
            }
        }
        for part in device {
            var filled = options
            let kind = try Self.read(part, into: &filled, formats)
            if known.insert(kind).inserted { options = filled }
        }
        self.options = options
    }

    /// The texts before and after the `x`, if they are what sides look like.
    private static func sides(_ size: Substring) -> [Substring]? {
        let box = size.prefix { $0 != "@" }
        let sides = box.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[0].isEmpty else { return nil }
        let isFree = sides[0] == "_"
        guard isFree || sides[0].utf8.allSatisfy(\.isDigit),
            sides[1].utf8.allSatisfy(\.isDigit)
        else { return nil }
        return sides
    }

    private static func box(
        _ sides: [Substring], _ maximumSide: Int
    ) throws(ServerError) -> (Int?, Int?) {
        let numbers = sides.map { side -> Int? in
            side.first == "0" ? nil : Int(side).flatMap { $0 <= maximumSide ? $0 : nil }
        }
        for (side, number) in zip(sides, numbers)
        where number == nil && !side.isEmpty && side != "_" {
            throw .malformedRequest(
                reason: "a size is WIDTHxHEIGHT, both whole numbers from 1 to \(maximumSide)")
        }
        return (numbers[0], numbers[1])
    }

    private static func density(_ size: Substring) throws(ServerError) -> Double? {
        guard let at = size.firstIndex(of: "@") else { return nil }
        let text = size[size.index(after: at)...]
        guard text.last == "x", let density = decimal(text.dropLast(), 1...8) else {
            throw .malformedRequest(reason: "a density is @2x, from 1 to 8")
        }
        return density
    }

    private static func device(
        _ name: Substring, _ devices: [String: String]
    ) throws(ServerError) -> [Substring] {
        guard let options = devices[String(name)] else {
            throw .malformedRequest(
                reason: "there is no device \u{201C}\(name.prefix(32))\u{201D}")
        }
        return options.split(separator: ",", omittingEmptySubsequences: false)
    }

    /// - Returns: what kind of thing was said.
    private static func read(
        _ part: Substring, into options: inout PictureOptions, _ formats: [String: String]
    ) throws(ServerError) -> String {
        switch part {
        case "fit", "fill", "stretch":
            options.mode = ResizeMode(rawValue: String(part)) ?? .fit
            return "how the box is met"
        case "left", "right":
            options.anchor.x = part == "left" ? 0 : 1
            return "a horizontal edge"
        case "top", "bottom":
            options.anchor.y = part == "top" ? 0 : 1
            return "a vertical edge"
        case "up":
            options.allowsEnlarging = true
            return "that it may be enlarged"
        case "gray":
            options.tone = .gray
            return "a tone"
        case "profile":
            options.keepsProfile = true
            return "of which colours it is"
        case "lossless":
            options.isLossless = true
            return "a quality"
        case "still":
            options.isStill = true
            return "that it is still"
        case _ where formats[String(part)] != nil:
            options.format = formats[String(part)]
            return "a format"
        case _ where part.hasPrefix("ssim"):
            let range = EncodeOptions.targetSSIMs
            if let target = decimal(part.dropFirst(4), range, decimalCount: 3) {
                options.targetSSIM = target
                return "a quality"
            }
        case _ where part.hasPrefix("q"):
            if let quality = decimal(part.dropFirst(), 1...100), quality == quality.rounded() {
                options.quality = Int(quality)
                return "a quality"
            }
        case _ where part.hasPrefix("blur"):
            if let sigma = decimal(part.dropFirst(4), 0.1...100) {
                options.blur = sigma
                return "a blur"
            }
        default: break
        }
        throw .malformedRequest(reason: "there is no option \u{201C}\(part.prefix(32))\u{201D}")
    }

    /// A number with at most so many decimals and no digit too many.
    private static func decimal(
        _ text: Substring, _ range: ClosedRange<Double>, decimalCount: Int = 2
    ) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), text.utf8.count <= 6,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }),
            parts[0].count == 1 || parts[0].first != "0",
            parts.count == 1 || (parts[1].count <= decimalCount && parts[1].last != "0"),
            let number = Double(text), range.contains(number)
        else { return nil }
        return number
    }
}

extension UInt8 {
    var isDigit: Bool { (48...57).contains(self) }
}
