// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Foundation
internal import ImageCodecs
internal import ImageTesting
internal import Pixels

/// Opens a bomb as programs do and prints the outcome and the peak memory.
enum BombOpener {
    private static func peakByteCount() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.filter(\.isNumber)).flatMap { Int($0) }.map { $0 << 10 } ?? 0
    }

    /// Returns a digest of the pixels of a file and its first frames, and any error.
    static func digest(_ path: String) -> String {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        func take(_ image: PixelBuffer) {
            for byte in image.packedBytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        do throws(CodecError) {
            let source = try ImageSource(EncodedBytes(mapping: path), codecs: builtInCodecs)
            take(try source.image())
            take(try source.image(DecodeOptions(maximumSide: 8)))
            var frames = try source.frames()
            for _ in 0..<3 {
                guard let frame = try frames.next() else { break }
                take(frame.image)
            }
        } catch {
            return "\(digest) \(error)"
        }
        return "\(digest)"
    }

    /// Prints a line for each failed step, and last the growth of peak memory in bytes.
    ///
    /// - Parameter arguments: the name of the bomb and the path of the file.
    /// - Throws: if the file cannot be read.
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2, let bomb = Bomb.all.first(where: { $0.name == arguments[0] })
        else { fatalError("missing arguments: the name of a bomb and a path") }
        let file = try EncodedBytes(mapping: arguments[1])
        let before = try peakByteCount()
        for (step, error) in bomb.answers(file, builtInCodecs) { print("\(step): \(error)") }
        print(try peakByteCount() - before)
    }
}
