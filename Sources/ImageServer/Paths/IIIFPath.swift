// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// The path of an IIIF Image API request after the identifier.
///
/// - SeeAlso: IIIF Image API 3.0 and 2.1.1, section 4.
enum IIIFPath {
    /// The supported major versions of the API.
    enum Version: String, CaseIterable {
        case two = "2"
        case three = "3"
    }

    /// The base URI of an image, which redirects to `info.json`.
    case base
    /// `info.json`.
    case information
    /// An image request.
    case image(Request)

    /// The parameters of an image request, unparsed.
    struct Request: Hashable {
        var region: String
        var size: String
        var rotation: String
        var quality: String
        var format: String
    }

    /// Parses the segments after the identifier; fails for another number of segments.
    ///
    /// - Parameter segments: the percent-decoded segments.
    init?(_ segments: [String]) {
        switch segments.count {
        case 0: self = .base
        case 1 where segments[0] == "info.json": self = .information
        case 4:
            guard let dot = segments[3].lastIndex(of: ".") else { return nil }
            self = .image(
                Request(
                    region: segments[0], size: segments[1], rotation: segments[2],
                    quality: String(segments[3][..<dot]),
                    format: String(segments[3][segments[3].index(after: dot)...])))
        default: return nil
        }
    }
}

extension IIIFPath.Request {
    /// The options of the rendition, and the canonical form of the request (section 4.7 of 3.0).
    struct Resolved {
        var options: RenditionOptions
        var canonical: String
    }

    /// Parses the parameters for an image of a given size.
    ///
    /// - Parameters:
    ///   - version: the version of the API.
    ///   - original: the upright size of the image in pixels.
    ///   - maximumSide: the largest width or height of a result in pixels.
    ///   - formats: the names of encodable formats, by their names in paths.
    /// - Returns: the options, and the canonical form of the request.
    /// - Throws: ``ServerError/malformedRequest(reason:)``.
    func resolved(
        _ version: IIIFPath.Version, of original: PixelSize, maximumSide: Int,
        formats: [String: String]
    ) throws(ServerError) -> Resolved {
        var options = RenditionOptions()
        options.region = try parsedRegion()
        let part = try options.part(of: original) ?? PixelRect(original)
        options.region = part == PixelRect(original) ? .whole : .pixels(part)

        let wanted = try parsedSize(version, of: part.size, maximumSide)
        (options.width, options.height) = (wanted.width, wanted.height)
        options.mode = .stretch
        options.allowsEnlarging = true
        (options.degrees, options.isMirrored) = try parsedRotation()
        switch quality {
        case "default", "color": break
        case "gray": options.tone = .gray
        case "bitonal": options.tone = .bitonal
        default: throw malformed("unknown quality \u{201C}\(quality.prefix(32))\u{201D}")
        }
        guard let format = formats[format],
            ["jpg", "png", "webp", "tif", "gif", "jp2"]
                .contains(self.format)
        else {
            throw malformed("unknown format \u{201C}\(self.format.prefix(32))\u{201D}")
        }
        options.format = format
        let area =
            options.region == .whole ? "full" : "\(part.x),\(part.y),\(part.width),\(part.height)"
        var size = "\(wanted.width),\(wanted.height)"
        if wanted == part.size, part.size.largestSide <= maximumSide {
            size = version == .two ? "full" : "max"
        } else if version == .two {
            // The canonical form omits a height that follows from the width.
            let free = ResizeGeometry(
                of: part.size, into: PixelSize(width: wanted.width, height: .max), mode: .fit)
            if free.size == wanted { size = "\(wanted.width)," }
        } else if wanted.width > part.width || wanted.height > part.height {
            size = "^" + size
        }
        let tone = options.tone == .color ? "default" : quality
        return Resolved(
            options: options,
            canonical: "\(area)/\(size)/\(options.isMirrored ? "!" : "")\(options.degrees)/"
                + "\(tone).\(self.format)")
    }

    private func malformed(_ reason: String) -> ServerError { .malformedRequest(reason: reason) }

    private func parsedRegion() throws(ServerError) -> RenditionOptions.Region {
        if region == "full" { return .whole }
        if region == "square" { return .square }
        let isPercentage = region.hasPrefix("pct:")
        let numbers = (isPercentage ? region.dropFirst(4) : region[...])
            .split(separator: ",", omittingEmptySubsequences: false).map(Self.number)
        guard numbers.count == 4, case let values = numbers.compactMap({ $0 }), values.count == 4,
            values[2] > 0, values[3] > 0, isPercentage || values.allSatisfy({ $0 == $0.rounded() })
        else {
            throw malformed("invalid region; expected full, square, x,y,w,h or pct:x,y,w,h")
        }
        if isPercentage {
            return .fraction(
                SampleRegion(
                    x: values[0] / 100, y: values[1] / 100, width: values[2] / 100,
                    height: values[3] / 100))
        }
        return .pixels(
            PixelRect(
                x: Int(values[0]), y: Int(values[1]), width: Int(values[2]),
                height: Int(values[3])))
    }

    /// The size of the result before rotation.
    private func parsedSize(
        _ version: IIIFPath.Version, of part: PixelSize, _ maximumSide: Int
    ) throws(ServerError) -> PixelSize {
        let mayEnlarge = version == .two || size.hasPrefix("^")
        guard version == .three || !size.hasPrefix("^") else { throw malformedSize }
        var text = size[...]
        if text.hasPrefix("^") { text = text.dropFirst() }
        let limit = PixelSize(width: maximumSide, height: maximumSide)
        let size: PixelSize
        if text == "max" || (text == "full" && version == .two) {
            // Never enlarged: `maxWidth` is announced only for images that exceed it.
            return ResizeGeometry(of: part, into: limit, mode: .fit).size
        } else if text.hasPrefix("pct:") {
            guard let percent = Self.number(text.dropFirst(4)), percent > 0 else {
                throw malformedSize
            }
            func side(_ side: Int) -> Int {
                max(1, Int(min(Double(side) * percent / 100, 1e9).rounded()))
            }
            size = PixelSize(width: side(part.width), height: side(part.height))
        } else {
            size = try box(text, part, mayEnlarge)
        }
        guard mayEnlarge || (size.width <= part.width && size.height <= part.height) else {
            throw malformed("the size exceeds the region; prefix it with ^ to allow upscaling")
        }
        guard size.largestSide <= maximumSide else {
            throw malformed("the size exceeds the maximum of \(maximumSide) pixels")
        }
        return size
    }

    /// The size for `w,h`, `w,`, `,h` and `!w,h`.
    private func box(
        _ text: Substring, _ part: PixelSize, _ mayEnlarge: Bool
    ) throws(ServerError) -> PixelSize {
        let fits = text.hasPrefix("!")
        let sides = (fits ? text.dropFirst() : text)
            .split(separator: ",", omittingEmptySubsequences: false)
        let lengths = sides.map { side in
            Self.number(side).flatMap { $0 == $0.rounded() && $0 >= 1 ? Int($0) : nil }
        }
        guard sides.count == 2, zip(sides, lengths).allSatisfy({ $0.isEmpty || $1 != nil }) else {
            throw malformedSize
        }
        switch (lengths[0], lengths[1]) {
        case (let width?, let height?):
            let box = PixelSize(width: width, height: height)
            guard fits else { return box }
            return ResizeGeometry(of: part, into: box, mode: .fit, enlarging: true).size
        case (nil, nil):
            throw malformedSize
        case (let width, let height):
            guard !fits else { throw malformedSize }
            return ResizeGeometry(
                of: part, into: PixelSize(width: width ?? .max, height: height ?? .max),
                mode: .fit, enlarging: true
            ).size
        }
    }

    private var malformedSize: ServerError {
        malformed("invalid size; expected max, w,h or w, or ,h or !w,h or pct:n")
    }

    private func parsedRotation() throws(ServerError) -> (degrees: Int, isMirrored: Bool) {
        let isMirrored = rotation.hasPrefix("!")
        let number = Self.number(isMirrored ? rotation.dropFirst() : rotation[...])
        guard let number, [0, 90, 180, 270, 360].contains(number) else {
            throw malformed("invalid rotation; expected 0, 90, 180 or 270 degrees")
        }
        return (Int(number) % 360, isMirrored)
    }

    /// Parses a decimal number without sign and exponent.
    private static func number(_ text: Substring) -> Double? {
        guard let first = text.utf8.first, first.isDigit, text.utf8.count <= 20,
            text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }),
            let number = Double(text), number < 1e9
        else { return nil }
        return number
    }
}
