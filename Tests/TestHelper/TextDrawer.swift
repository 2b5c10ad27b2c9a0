// SPDX-License-Identifier: Apache-2.0

internal import Drawing
internal import Foundation
internal import ImageTesting
internal import Pixels

enum TextDrawer {
    /// Draws different texts on several threads, and prints by how many bytes the resident memory has
    /// grown since each thread had drawn its first texts.
    ///
    /// - Parameter arguments: the number of threads, the number of first texts of each thread, and
    ///   that of the texts that follow.
    /// - Throws: an error if fonts are missing.
    static func run(_ arguments: [String]) throws {
        let numbers = arguments.compactMap { Int($0) }
        guard numbers.count == 3 else {
            fatalError("invalid arguments: three integers are required")
        }
        let fonts = try (0..<numbers[0]).map { _ in try FontCollection() }
        draw(numbers[1], fonts, seed: 0)
        let before = residentByteCount
        draw(numbers[2], fonts, seed: 1000)
        print(residentByteCount - before)
    }

    /// Draws texts with each font collection on a thread of its own, and waits for all.
    private static func draw(_ count: Int, _ fonts: [FontCollection], seed: UInt64) {
        let group = DispatchGroup()
        for (index, fonts) in fonts.enumerated() {
            group.enter()
            Thread {
                var random = SeededRandom(seed: seed + UInt64(index))
                for _ in 0..<count { draw(text(&random), fonts, &random) }
                group.leave()
            }.start()
        }
        group.wait()
    }

    private static func draw(
        _ text: String, _ fonts: FontCollection, _ random: inout SeededRandom
    ) {
        let layout = TextLayout(
            text, font: .named("Sans", size: Double(Int.random(in: 1...3, using: &random) * 14)),
            width: 300, lines: 2, height: 90, fits: .shrinking(to: 10))
        do {
            _ = try ImageRenderer(size: PixelSize(width: 320, height: 100), fonts: fonts).contents {
                context throws(DrawingError) in
                try context.draw(layout, at: Point(10, 5))
            }
        } catch {
            fatalError("\(text): \(error)")
        }
    }

    /// Returns some words of random letters: Latin, Greek, Cyrillic or Arabic.
    private static func text(_ random: inout SeededRandom) -> String {
        let letters: [ClosedRange<UInt32>] = [
            0x61...0x7A, 0xE0...0xF6, 0x3B1...0x3C9, 0x430...0x44F, 0x628...0x64A,
        ]
        let words = (0..<Int.random(in: 1...8, using: &random)).map { _ in
            let range = letters[Int.random(in: letters.indices, using: &random)]
            var word = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...9, using: &random) {
                if let letter = Unicode.Scalar(UInt32.random(in: range, using: &random)) {
                    word.append(letter)
                }
            }
            return String(word)
        }
        return words.joined(separator: " ")
    }

    private static var residentByteCount: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.filter(\.isNumber)).flatMap { Int($0) }.map { $0 << 10 } ?? 0
    }
}
