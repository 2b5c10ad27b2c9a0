// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension SpriteIndex {
    /// As JSON, in the form that `Codable` reads.
    public var json: String {
        let lines = sprites.map { sprite in
            let place = sprite.place
            return "{\"name\":\(Self.jsonString(sprite.name)),\"x\":\(place.x),\"y\":\(place.y),"
                + "\"width\":\(place.width),\"height\":\(place.height)}"
        }
        return "{\"width\":\(size.width),\"height\":\(size.height),\"sprites\":[\n"
            + lines.joined(separator: ",\n") + "\n]}\n"
    }

    /// As a style sheet with a class for each sprite.
    ///
    /// - Parameters:
    ///   - address: where the large picture is, as the style sheet sees it.
    ///   - prefix: what the name of each class begins with, before the name of the sprite.
    ///   - pixelRatio: device pixels for each pixel of the style sheet.
    /// - Returns: one rule a line.
    public func css(
        image address: String, prefix: String = "sprite-", pixelRatio: Double = 1
    ) -> String {
        precondition(pixelRatio > 0, "a ratio is more than 0")
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

    /// As WebVTT, by which players show a picture for each part of a film.
    ///
    /// - Parameters:
    ///   - address: where the large picture is, as the player sees it.
    ///   - interval: how long each sprite stands for, in the order of the index.
    ///   - start: when the first one begins.
    /// - Returns: a whole file.
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
            // So that a page that holds the style sheet does not see it end.
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
