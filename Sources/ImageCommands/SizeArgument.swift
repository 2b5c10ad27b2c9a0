// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Pixels

/// A size on the command line.
struct SizeArgument: Hashable, Sendable {
    /// The text of the argument, which is also part of the names of thumbnails.
    let text: String
    /// The box in pixels; a side that is not specified is `Int.max`.
    let box: PixelSize

    /// Parses a size.
    ///
    /// - Parameter text: `400`, `400x300`, `400x` or `x300`; sides are from 1 to 65535.
    /// - Throws: `ValidationError` for any other text.
    init(parsing text: String) throws {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        let lengths = sides.map { $0.isEmpty ? Int.max : Self.length($0) }
        switch (lengths.count, lengths.first ?? nil, lengths.last ?? nil) {
        case (1, let side?, _) where side != .max:
            box = PixelSize(width: side, height: side)
        case (2, let width?, let height?) where width != .max || height != .max:
            box = PixelSize(width: width, height: height)
        default:
            throw ValidationError(
                "invalid size: \(text); use 400 (longer side), 400x300 (box), 400x (width) or x300 "
                    + "(height), in pixels from 1 to 65535")
        }
        self.text = text
    }

    private static func length(_ digits: Substring) -> Int? {
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let length = Int(digits), 1...65_535 ~= length
        else { return nil }
        return length
    }
}
