// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// A small file that requires many resources, with the expected result.
public struct Bomb: Sendable, CustomStringConvertible {
    /// What is done with a file, in this order.
    public enum Step: String, Sendable, CaseIterable {
        case open, metadata, image, frames, incremental
    }

    public enum Answer: Sendable {
        /// At this step, and while the file comes in, this limit is named.
        case limit(DecodeLimits.Name, at: Step)
        /// It cannot be opened, for another reason.
        case malformed, unsupported
        /// It does no harm and is shown.
        case image
    }

    public let name: String
    public let answer: Answer
    public internal(set) var limits = DecodeLimits()
    /// Whether its first frame is the image, which is decoded before the others are requested.
    public internal(set) var hasHarmlessFirstFrame = false
    private let make: @Sendable () -> [UInt8]

    init(_ name: String, _ answer: Answer, _ make: @escaping @Sendable () -> [UInt8]) {
        self.name = name
        self.answer = answer
        self.make = make
    }

    public var description: String { name }

    /// The name of the format that it is of.
    public var format: String {
        let word = String(name.prefix { $0 != " " })
        return word == "apng" ? "png" : word
    }

    /// The file.
    public func bytes() -> [UInt8] { make() }

    public static var all: [Bomb] {
        floods + compressed + chunks + animations + items + loops + profiles
    }

    /// Does with a file what programs do.
    ///
    /// - Returns: what went wrong, by steps; a file that cannot be opened has no other steps but the
    ///   last.
    public func answers(
        _ file: EncodedBytes, _ codecs: CodecSet
    ) -> [Step: CodecError] {
        var answers: [Step: CodecError] = [:]
        func run(_ step: Step, _ body: () throws(CodecError) -> Void) {
            do throws(CodecError) { try body() } catch { answers[step] = error }
        }
        // Reads what follows the pixels, too.
        let options = DecodeOptions(maximumSide: 100).strict
        var source: ImageSource?
        run(.open) { () throws(CodecError) in
            source = try ImageSource(file, codecs: codecs, limits: limits)
        }
        if let source {
            run(.metadata) { () throws(CodecError) in
                let blocks = try source.metadata()
                _ = blocks.exif.map { EXIFFields($0.span) }
                _ = blocks.xmp.map { XMPFields($0) }
            }
            run(.image) { () throws(CodecError) in _ = try source.image(options) }
            run(.frames) { () throws(CodecError) in
                var frames = try source.frames(options)
                _ = try frames.next()
            }
        }
        run(.incremental) { () throws(CodecError) in
            var image = IncrementalImage(codecs: codecs, options: options, limits: limits)
            let step = max(4096, file.count / 50)
            for start in stride(from: 0, to: file.count, by: step) {
                let end = min(start + step, file.count)
                try image.append(file.withBytes { Array($0.extracting(start..<end)) })
                _ = try image.preview()
            }
            _ = try image.finish()
        }
        return answers
    }
}

extension Bomb {
    /// The same bomb with something else about it.
    func with(_ change: (inout Bomb) -> Void) -> Bomb {
        var bomb = self
        change(&bomb)
        return bomb
    }
}

extension Array where Element == UInt8 {
    fileprivate init(_ bytes: Span<UInt8>) {
        self.init()
        reserveCapacity(bytes.count)
        for index in bytes.indices { append(bytes[index]) }
    }

    static func repeated(_ bytes: [UInt8], count: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count * count)
        for _ in 0..<count { result += bytes }
        return result
    }

    static func big(_ value: Int, _ byteCount: Int = 4) -> [UInt8] {
        (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    static func little(_ value: Int, _ byteCount: Int = 4) -> [UInt8] {
        big(value, byteCount).reversed()
    }
}
