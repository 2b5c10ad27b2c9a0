// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import Foundation
internal import Pixels

/// Measures effects: `effects-bench IMAGE WIDTH HEIGHT CHAIN [RESULT]`.
///
/// `IMAGE` contains interleaved RGB samples of 8 bits. The program prints the CPU time of the fastest of
/// several runs in milliseconds and the growth of the peak memory in bytes, and writes the samples of the
/// result to a file.
@main enum EffectsBench {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5, let width = Int(arguments[2]), let height = Int(arguments[3]),
            let chain = chains[arguments[4]]
        else {
            print("usage: effects-bench IMAGE WIDTH HEIGHT CHAIN [RESULT]")
            print("chains: " + chains.keys.sorted().joined(separator: ", "))
            exit(64)
        }
        let image = buffer(
            Array(try Data(contentsOf: URL(filePath: arguments[1]))),
            PixelSize(width: width, height: height))
        var best = Double.infinity
        var result = chain.applied(to: image) ?? image
        let ownByteCount = result.byteCount
        result = image
        // Resets the peak.
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = memory("VmRSS:")
        for _ in 0..<5 {
            result = image
            let start = clock()
            result = chain.applied(to: image) ?? image
            best = min(best, Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1000)
        }
        print("\(best) \(memory("VmHWM:") - before - ownByteCount)")
        if arguments.count > 5 {
            var samples = Data()
            for y in 0..<result.size.height {
                let row = result.row(y)
                for index in row.indices { samples.append(row[index]) }
            }
            try samples.write(to: URL(filePath: arguments[5]))
        }
    }

    static let chains: [String: Effect] = {
        let six = Effect.exposure(0.3).then(.brightness(0.02)).then(.contrast(1.1))
            .then(.saturation(1.2)).then(.gamma(0.9)).then(.tint(sepia, amount: 0.1))
        let seven = six.then(.contrast(0.9))
        let eight = seven.then(.gamma(1.1))
        let nine = eight.then(.saturation(1.1))
        let ten = nine.then(.gamma(0.9))
        let mark = Effect.overlay(
            Overlay(
                watermark, identity: "mark",
                placement: .anchored(x: 1, y: 1, offsetX: -40, offsetY: -40), opacity: 0.6))
        func marked(_ points: Effect) -> Effect { points.then(.sharpen(sigma: 1)).then(mark) }
        return [
            "none": .colorMatrix(ColorMatrix(scale: 1, offset: 0)),
            "exposure": .exposure(0.3),
            "six": six,
            "seven": seven,
            "eight": eight,
            "nine": nine,
            "ten": ten,
            "sharpen": .sharpen(sigma: 1),
            "six+sharpen": six.then(.sharpen(sigma: 1)),
            "six+sharpen+watermark": marked(six),
            "seven+sharpen+watermark": marked(seven),
            "eight+sharpen+watermark": marked(eight),
            "nine+sharpen+watermark": marked(nine),
            "ten+sharpen+watermark": marked(ten),
            "blur0.5": .blur(sigma: 0.5),
            "blur1": .blur(sigma: 1),
            "blur2": .blur(sigma: 2),
            "blur3": .blur(sigma: 3),
            "blur8": .blur(sigma: 8),
            "blur30": .blur(sigma: 30),
            "pixelate": .pixelate(16),
        ]
    }()

    private static let sepia = SRGBColor(red: 0.9, green: 0.8, blue: 0.6)

    /// A disc of 400 pixels.
    private static var watermark: PixelBuffer {
        var image = MutablePixelBuffer(size: PixelSize(width: 400, height: 400), format: .rgba8)
        for y in 0..<400 {
            image.withMutableRow(y) { row in
                for x in 0..<400 where (x - 200) * (x - 200) + (y - 200) * (y - 200) < 40_000 {
                    for channel in 0..<4 { row[x * 4 + channel] = 255 }
                }
            }
        }
        return image.finish()
    }

    private static func buffer(_ samples: [UInt8], _ size: PixelSize) -> PixelBuffer {
        var image = MutablePixelBuffer(size: size, format: .rgb8)
        for y in 0..<size.height {
            image.withMutableRow(y) { row in
                for index in row.indices { row[index] = samples[y * size.width * 3 + index] }
            }
        }
        return image.finish()
    }

    /// Returns a figure of the process in bytes.
    private static func memory(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}
