// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// What an address of the IIIF Image API asks for, after its prefix.
///
/// - SeeAlso: IIIF Image API 3.0 and 2.1.1, section 4.
enum IIIFAddress {
    enum Version: String, CaseIterable {
        case two = "2"
        case three = "3"
    }

    /// The address of the picture alone, which leads to its description.
    case base
    case information
    case image(Request)

    /// The parameters as they were written.
    struct Request: Hashable {
        var region: String
        var size: String
        var rotation: String
        var quality: String
        var format: String
    }

    /// Fails if there is no such address.
    ///
    /// - Parameter segments: those after the identifier, decoded.
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

extension IIIFAddress.Request {
    /// What is to be made of a picture, and the address that says it in the one way.
    struct Meaning {
        var options: PictureOptions
        var canonical: String
        var regionSize: PixelSize
    }

    /// What the parameters ask for of a picture.
    ///
    /// - Parameters:
    ///   - version: of the API.
    ///   - original: the size of the picture as it is looked at.
    ///   - maximumSide: the largest width or height of a result.
    ///   - formats: the names of formats that can be written, by what addresses call them.
    /// - Returns: the same in the server's own words.
    /// - Throws: ``ServerError/malformedRequest(reason:)``.
    func meaning(
        _ version: IIIFAddress.Version, of original: PixelSize, maximumSide: Int,
        formats: [String: String]
    ) throws(ServerError) -> Meaning {
        var options = PictureOptions()
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
        default: throw malformed("there is no quality \u{201C}\(quality.prefix(32))\u{201D}")
        }
        guard let format = formats[format],
            ["jpg", "png", "webp", "tif", "gif", "jp2"]
                .contains(self.format)
        else {
            throw malformed("there is no format \u{201C}\(self.format.prefix(32))\u{201D}")
        }
        options.format = format
        let area =
            options.region == .whole ? "full" : "\(part.x),\(part.y),\(part.width),\(part.height)"
        var size = "\(wanted.width),\(wanted.height)"
        if wanted == part.size, part.size.largestSide <= maximumSide {
            size = version == .two ? "full" : "max"
        } else if version == .two {
            // Where the height follows from the width, the width alone is said.
            let free = ResizeGeometry(
                of: part.size, into: PixelSize(width: wanted.width, height: .max), mode: .fit)
            if free.size == wanted { size = "\(wanted.width)," }
        } else if wanted.width > part.width || wanted.height > part.height {
            size = "^" + size
        }
        let tone = options.tone == .color ? "default" : quality
        return Meaning(
            options: options,
            canonical: "\(area)/\(size)/\(options.isMirrored ? "!" : "")\(options.degrees)/"
                + "\(tone).\(self.format)",
            regionSize: part.size)
    }

    private func malformed(_ reason: String) -> ServerError { .malformedRequest(reason: reason) }

    private func parsedRegion() throws(ServerError) -> PictureOptions.Region {
        if region == "full" { return .whole }
        if region == "square" { return .square }
        let isShare = region.hasPrefix("pct:")
        let numbers = (isShare ? region.dropFirst(4) : region[...])
            .split(separator: ",", omittingEmptySubsequences: false).map(Self.number)
        guard numbers.count == 4, case let values = numbers.compactMap({ $0 }), values.count == 4,
            values[2] > 0, values[3] > 0, isShare || values.allSatisfy({ $0 == $0.rounded() })
        else {
            throw malformed("a region is full, square, x,y,w,h or pct:x,y,w,h")
        }
        if isShare {
            return .share(
                SampleRegion(
                    x: values[0] / 100, y: values[1] / 100, width: values[2] / 100,
                    height: values[3] / 100))
        }
        return .pixels(
            PixelRect(
                x: Int(values[0]), y: Int(values[1]), width: Int(values[2]),
                height: Int(values[3])))
    }

    /// The size of the result before it is turned.
    private func parsedSize(
        _ version: IIIFAddress.Version, of part: PixelSize, _ maximumSide: Int
    ) throws(ServerError) -> PixelSize {
        let mayEnlarge = version == .two || size.hasPrefix("^")
        guard version == .three || !size.hasPrefix("^") else { throw malformedSize }
        var text = size[...]
        if text.hasPrefix("^") { text = text.dropFirst() }
        let limit = PixelSize(width: maximumSide, height: maximumSide)
        let size: PixelSize
        if text == "max" || (text == "full" && version == .two) {
            // Enlarged as far as is announced, which is not at all for a picture that is smaller.
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
            throw malformed("the picture is not enlarged unless the size begins with ^")
        }
        guard size.largestSide <= maximumSide else {
            throw malformed("no side is longer than \(maximumSide) pixels")
        }
        return size
    }

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
        malformed("a size is max, w,h or w, or ,h or !w,h or pct:n")
    }

    private func parsedRotation() throws(ServerError) -> (degrees: Int, isMirrored: Bool) {
        let isMirrored = rotation.hasPrefix("!")
        let number = Self.number(isMirrored ? rotation.dropFirst() : rotation[...])
        guard let number, [0, 90, 180, 270, 360].contains(number) else {
            throw malformed("pictures are turned by 0, 90, 180 or 270 degrees")
        }
        return (Int(number) % 360, isMirrored)
    }

    /// A number as the API writes it, without a sign or an exponent.
    private static func number(_ text: Substring) -> Double? {
        guard let first = text.utf8.first, first.isDigit, text.utf8.count <= 20,
            text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }),
            let number = Double(text), number < 1e9
        else { return nil }
        return number
    }
}
