// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension SpriteIndex {
    /// The index as JSON, as `Codable` decodes it.
    public var json: String {
        let lines = sprites.map { sprite in
            let place = sprite.place
            return "{\"name\":\(Self.jsonString(sprite.name)),\"x\":\(place.x),\"y\":\(place.y),"
                + "\"width\":\(place.width),\"height\":\(place.height)}"
        }
        return "{\"width\":\(size.width),\"height\":\(size.height),\"sprites\":[\n"
            + lines.joined(separator: ",\n") + "\n]}\n"
    }

    /// Returns a CSS style sheet with a class for each sprite, one rule a line.
    ///
    /// - Parameters:
    ///   - address: the URL of the sheet, as in the style sheet.
    ///   - prefix: the prefix of each class name, before the name of the sprite.
    ///   - pixelRatio: the number of device pixels for each CSS pixel; more than 0.
    /// - Returns: the style sheet.
    public func css(
        image address: String, prefix: String = "sprite-", pixelRatio: Double = 1
    ) -> String {
        precondition(pixelRatio > 0, "pixelRatio must be positive")
        func length(_ pixels: Int) -> String {
            let length = Double(pixels) / pixelRatio
            return length == length.rounded() ? "\(Int(length))px" : "\(length)px"
        }
        return sprites.map { sprite in
            let place = sprite.place
            return ".\(Self.cssIdentifier(prefix + sprite.name)){"
                + "width:\(length(place.width));height:\(length(place.height));"
                + "background:url(\(Self.cssString(address))) \(length(-place.x)) "
                + "\(length(-place.y))/\(length(size.width)) \(length(size.height)) no-repeat}\n"
        }.joined()
    }

    /// Returns a WebVTT file, by which players show a preview for each interval of a video.
    ///
    /// - Parameters:
    ///   - address: the URL of the sheet, as in the file.
    ///   - interval: the duration of each sprite, in the order of the index.
    ///   - start: the start of the first sprite.
    /// - Returns: the file.
    /// - SeeAlso: W3C, “Media Fragments URI 1.0”, section 4.2.2, for the part behind `#`.
    public func webVTT(
        image address: String, interval: Duration, start: Duration = .zero
    ) -> String {
        // A line break would end the cue.
        let address = String(address.filter { !$0.isNewline })
        var text = "WEBVTT\n"
        for (index, sprite) in sprites.enumerated() {
            let place = sprite.place
            let from = start + interval * index
            text += "\n\(Self.timestamp(from)) --> \(Self.timestamp(from + interval))\n"
            text += "\(address)#xywh=\(place.x),\(place.y),\(place.width),\(place.height)\n"
        }
        return text
    }

    private static func timestamp(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        let milliseconds =
            seconds * 1000 + (attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000
        let parts = [
            milliseconds / 3_600_000, milliseconds / 60_000 % 60, milliseconds / 1000 % 60,
        ]
        return parts.map { padded($0, 2) }.joined(separator: ":") + "."
            + padded(milliseconds % 1000, 3)
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    private static func jsonString(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20: result += "\\u00" + hexadecimal(scalar.value, 2)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// - SeeAlso: W3C, “CSS Object Model”, “serialize an identifier”.
    private static func cssIdentifier(_ text: String) -> String {
        var result = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            let isDigit = ("0"..."9").contains(scalar)
            let follows = index == 0 || (index == 1 && text.hasPrefix("-"))
            switch scalar {
            case "\0": result += "\u{FFFD}"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F || (isDigit && follows):
                result += "\\" + hexadecimal(scalar.value, 1) + " "
            case "-" where text.unicodeScalars.count == 1: result += "\\-"
            case "-", "_", "0"..."9", "a"..."z", "A"..."Z", "\u{80}"..."\u{10FFFF}":
                result.unicodeScalars.append(scalar)
            default: result += "\\\(scalar)"
            }
        }
        return result
    }

    private static func cssString(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": result += "\u{FFFD}"
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += "\\" + hexadecimal(scalar.value, 1) + " "
            // Escaped, so that the text cannot close a `<style>` element.
            case "<": result += "\\3c "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func hexadecimal(_ value: UInt32, _ count: Int) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
