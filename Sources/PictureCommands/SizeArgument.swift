// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Pixels

/// A size as it is written on the command line.
struct SizeArgument: Hashable, Sendable {
    /// The text as it was written; it also stands in the names of thumbnails.
    let text: String
    /// A side that was left free is `Int.max`.
    let box: PixelSize

    /// - Parameter text: `400`, `400x300`, `400x` or `x300`; sides from 1 to 65535.
    /// - Throws: `ValidationError`, saying how a size is written.
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
                "a size is written 400 (the longer side), 400x300 (a box), 400x (the width) or "
                    + "x300 (the height), in pixels from 1 to 65535")
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
