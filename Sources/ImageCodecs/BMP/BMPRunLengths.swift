// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The start of each row in run-length encoded data, so that rows stored bottom-up can be delivered
/// from the top.
///
/// One pass over the data collects 16 bytes per row instead of the decoded image.
struct BMPRunLengths {
    /// The offset of a row's first code and its column; skipped rows have none.
    private struct Start {
        var offset = -1
        var column = 0
    }

    private var starts: [Start]
    private let width: Int
    private let bitsPerPixel: Int
    /// Whether the codes cover all pixels.
    let isComplete: Bool
    /// Whether the data ends without an end-of-bitmap code.
    let isTruncated: Bool

    init(
        _ file: Span<UInt8>, _ header: BMPHeader, _ cancellation: CancellationFlag?
    ) throws(CodecError) {
        width = header.size.width
        bitsPerPixel = header.bitsPerPixel
        let height = header.size.height
        starts = Array(repeating: Start(), count: height)
        var codes = Codes(offset: header.dataOffset, bitsPerPixel: bitsPerPixel)
        var row = 0
        var column = 0
        var covered = 0
        var ended = false
        starts[0] = Start(offset: codes.offset, column: 0)
        loop: while row < height {
            guard let code = codes.next(file) else { break }
            switch code {
            case .run(_, let count), .samples(_, let count):
                let count = min(count, width - column)
                column += count
                covered += count
            case .endOfRow:
                row += 1
                column = 0
                if row < height { starts[row] = Start(offset: codes.offset, column: 0) }
                if row & 63 == 0, cancellation?.isCancelled == true { throw .cancelled }
            case .end:
                ended = true
                break loop
            case .delta(let right, let up):
                column = min(column + right, width)
                if up > 0 {
                    row += up
                    if row < height { starts[row] = Start(offset: codes.offset, column: column) }
                }
            }
        }
        isComplete = covered == width * height
        isTruncated = !ended && !isComplete && row < height
    }

    /// Decodes the codes of a row.
    ///
    /// - Parameters:
    ///   - row: the number of the row in stored order.
    ///   - file: the whole file.
    ///   - colors: RGB of each index of the colour table; unused for 24 bits.
    ///   - pixels: RGB or RGBA; skipped pixels are not written.
    ///   - channelCount: 3 or 4.
    func read(
        _ row: Int, from file: Span<UInt8>, _ colors: [UInt8], into pixels: inout [UInt8],
        channelCount: Int
    ) {
        let start = starts[row]
        guard start.offset >= 0 else { return }
        var codes = Codes(offset: start.offset, bitsPerPixel: bitsPerPixel)
        var column = start.column
        while let code = codes.next(file) {
            let samples: Int
            let wanted: Int
            let isRun: Bool
            switch code {
            case .run(let offset, let count): (samples, wanted, isRun) = (offset, count, true)
            case .samples(let offset, let count): (samples, wanted, isRun) = (offset, count, false)
            case .delta(let right, 0):
                column = min(column + right, width)
                continue
            case .delta, .endOfRow, .end: return
            }
            for index in 0..<min(wanted, width - column) {
                let place = (column + index) * channelCount
                if bitsPerPixel == 24 {
                    let color = samples + (isRun ? 0 : index * 3)
                    for channel in 0..<3 { pixels[place + channel] = file[color + 2 - channel] }
                } else {
                    let color = 3 * Int(sample(file, samples, index, isRun))
                    for channel in 0..<3 { pixels[place + channel] = colors[color + channel] }
                }
                if channelCount == 4 { pixels[place + 3] = 255 }
            }
            column = min(column + wanted, width)
        }
    }

    @inline(always)
    private func sample(
        _ file: Span<UInt8>, _ offset: Int, _ index: Int, _ isRun: Bool
    ) -> UInt8 {
        guard bitsPerPixel == 4 else { return file[isRun ? offset : offset + index] }
        // A 4-bit run alternates between the two halves of its byte.
        let byte = file[isRun ? offset : offset + index / 2]
        return index & 1 == 0 ? byte >> 4 : byte & 15
    }

    /// An iterator over the codes.
    private struct Codes {
        enum Code {
            /// Encoded mode: `count` pixels of the colour at `offset`.
            case run(offset: Int, count: Int)
            /// Absolute mode: `count` pixels at `offset`.
            case samples(offset: Int, count: Int)
            case endOfRow
            case end
            case delta(right: Int, up: Int)
        }

        var offset: Int
        let bitsPerPixel: Int

        /// Returns the next code, or `nil` at the end of the file.
        mutating func next(_ file: Span<UInt8>) -> Code? {
            guard offset <= file.count - 2 else { return nil }
            let count = Int(file[offset])
            let value = Int(file[offset + 1])
            if count > 0 {
                let start = offset + 1
                let byteCount = bitsPerPixel == 24 ? 3 : 1
                guard start <= file.count - byteCount else { return nil }
                offset = start + byteCount
                return .run(offset: start, count: count)
            }
            offset += 2
            switch value {
            case 0: return .endOfRow
            case 1: return .end
            case 2:
                guard offset <= file.count - 2 else { return nil }
                defer { offset += 2 }
                return .delta(right: Int(file[offset]), up: Int(file[offset + 1]))
            default:
                let byteCount = (value * bitsPerPixel + 7) / 8
                guard offset <= file.count - byteCount else { return nil }
                defer { offset += byteCount + byteCount & 1 }
                return .samples(offset: offset, count: value)
            }
        }
    }
}
