// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("Decoded rows") struct RowConsumerTests {
    /// Keeps what it gets, and has enough after some rows.
    private final class Rows: RowConsumer {
        private(set) var size: PixelSize?
        private(set) var format: PixelFormat?
        private(set) var bytes: [UInt8] = []
        private(set) var rowCount = 0
        private let mostRows: Int

        init(mostRows: Int = .max) { self.mostRows = mostRows }

        func begin(
            _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
        ) throws(CodecError) {
            self.size = size
            self.format = format
        }

        func append(_ row: Span<UInt8>) throws(CodecError) {
            guard rowCount < mostRows else { throw .file(reason: "full") }
            rowCount += 1
            for index in row.indices { bytes.append(row[index]) }
        }
    }

    private let size = PixelSize(width: 31, height: 20)

    private func source(_ file: EncodedBytes, _ codec: FormulaCodec = FormulaCodec()) throws
        -> ImageSource
    {
        // Less than the image takes, more than a row.
        var limits = DecodeLimits()
        limits.maximumMemoryByteCount = 100
        return try ImageSource(file, codecs: CodecSet([codec]), limits: limits)
    }

    @Test("are those of the stored image, and use no memory", arguments: [1, 3, 4])
    func rows(_ channelCount: Int) throws {
        let file = FormulaCodec.file(size, channelCount: channelCount, orientation: .rotated90)
        let rows = Rows()
        try source(file).decodeRows(into: rows)
        #expect(rows.size == size)
        #expect(rows.format?.channelCount == channelCount)
        let expected = (0..<size.area * channelCount).map { index in
            let pixel = index / channelCount
            return FormulaCodec.sample(
                pixel % size.width, pixel / size.width, index % channelCount)
        }
        #expect(rows.bytes == expected)
        #expect(throws: CodecError.self) { try source(file).image() }
    }

    @Test("stop at an error of the consumer and when cancelled") func stopping() throws {
        let file = FormulaCodec.file(size)
        let rows = Rows(mostRows: 5)
        #expect(throws: CodecError.file(reason: "full")) { try source(file).decodeRows(into: rows) }
        #expect(rows.rowCount == 5)
        let cancellation = CancellationFlag()
        cancellation.cancel()
        #expect(throws: CodecError.cancelled) {
            try source(file).decodeRows(into: Rows(), cancellation: cancellation)
        }
    }

    @Test("are completed with zeros if a truncated file is accepted") func truncated() throws {
        let codec = FormulaCodec(error: .truncated(byteCount: 18))
        let source = try source(FormulaCodec.file(size, damagedRow: 7), codec)
        let rows = Rows()
        #expect(throws: CodecError.truncated(byteCount: 18)) {
            try source.decodeRows(.strict, into: rows)
        }
        #expect(rows.rowCount == 7)
        let filled = Rows()
        let report = try source.decodeRows(into: filled)
        #expect(report.problem == .truncated(byteCount: 18))
        #expect(filled.rowCount == 20)
        #expect(filled.bytes.prefix(7 * 93) == rows.bytes[...])
        #expect(filled.bytes.dropFirst(7 * 93).allSatisfy { $0 == 0 })
    }
}
