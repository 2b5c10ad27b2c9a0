// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Pixels

/// An image whose premultiplied colours are exact, so that others can be given the plain ones.
struct PlaceholderImage {
    let size: PixelSize
    /// RGBA that is not premultiplied.
    let plain: [UInt8]

    /// A slope of colours, and of alpha from left to right if there is any.
    static func slope(_ width: Int, _ height: Int, hasAlpha: Bool) -> PlaceholderImage {
        PlaceholderImage(PixelSize(width: width, height: height)) { x, y in
            [
                x * 250 / width / 5, y * 250 / height / 5, (x + y) * 250 / (width + height) / 5,
                hasAlpha ? 5 - 5 * x / width : 5,
            ]
        }
    }

    static func random(
        _ size: PixelSize, hasAlpha: Bool, _ random: inout SeededRandom
    ) -> PlaceholderImage {
        // Waves rather than noise, whose means would all be grey.
        let steps = (0..<8).map { _ in Int.random(in: 1...9, using: &random) }
        return PlaceholderImage(size) { x, y in
            (0..<4).map { channel in
                let phase = (x * steps[channel] + y * steps[channel + 4]) / 3
                return channel == 3 ? (hasAlpha ? phase / 4 % 6 : 5) : (phase + 9 * channel) % 52
            }
        }
    }

    /// `sample` gives the colours in steps of 5, and alpha in steps of 51.
    private init(_ size: PixelSize, _ sample: (_ x: Int, _ y: Int) -> [Int]) {
        self.size = size
        plain = (0..<size.area).flatMap { place in
            let parts = sample(place % size.width, place / size.width)
            return parts.prefix(3).map { UInt8($0 * 5) } + [UInt8(parts[3] * 51)]
        }
    }

    var image: PixelBuffer {
        var bytes = plain
        var span = bytes.mutableSpan
        PremultipliedAlpha.multiply(&span)
        return PixelBuffer(packed: bytes, size, .rgba8)
    }

    /// Writes the file that `placeholders.py` reads.
    func write(to url: URL) throws {
        try Data(Array("P7 \(size.width) \(size.height) 4\n".utf8) + plain).write(to: url)
    }
}

/// What `placeholders.py` answers.
func placeholderPeer(_ arguments: String...) throws -> [UInt8]? {
    guard let python = PeerTool.python else { return nil }
    let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/placeholders.py").path
    return try PeerTool.run(python, [script] + arguments)
}

extension Sequence<UInt8> {
    var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
