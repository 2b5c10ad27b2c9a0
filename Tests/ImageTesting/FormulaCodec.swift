// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import EncodedImages
public import Pixels
internal import Synchronization

/// A decoder that computes images of any size row by row, without memory for their pixels.
///
/// A file is the signature `ROWS`, a byte each for the channel count and the orientation, and four
/// little-endian bytes each for the width, the height and the row at which it is damaged.
public final class FormulaCodec: ImageCodec, ImageDecoder, ImageEncoder {
    public let format = ImageFormat(
        name: "rows", extensions: ["rows"], mediaType: "image/x-rows",
        signatures: [.init(Array("ROWS".utf8))])
    public var decoder: any ImageDecoder { self }
    public var encoder: (any ImageEncoder)? { self }

    private let counts = Mutex((begun: 0, ended: 0))
    private let gate: DispatchSemaphore?
    /// The error that is thrown at the damaged row.
    private let error: CodecError

    public init(isGated: Bool = false, error: CodecError = .malformed(reason: "damage", offset: 7))
    {
        gate = isGated ? DispatchSemaphore(value: 0) : nil
        self.error = error
    }

    /// The numbers of started and of ended decodes, successful or not.
    public var decodes: (begun: Int, ended: Int) { counts.withLock { $0 } }

    /// Resumes a decode that waits at the gate.
    public func letThrough() { gate?.signal() }

    public static func file(
        _ size: PixelSize, channelCount: Int = 3, orientation: Orientation = .upright,
        damagedRow: Int = .max
    ) -> EncodedBytes {
        let numbers = [size.width, size.height, min(damagedRow, Int(UInt32.max))]
        return EncodedBytes(
            Array("ROWS".utf8) + [UInt8(channelCount), orientation.rawValue]
                + numbers.flatMap { number in (0..<4).map { UInt8(number >> (8 * $0) & 255) } })
    }

    /// Returns the sample at a position; alpha is never less than a colour.
    public static func sample(_ x: Int, _ y: Int, _ channel: Int) -> UInt8 {
        let mixed = (x &* 73_856_093) ^ (y &* 19_349_663) ^ (channel &* 83_492_791)
        let noise = UInt8(truncatingIfNeeded: (mixed >> 7) & 127)
        return channel == 3 ? 128 | noise : noise
    }

    public func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError)
        -> ImageHeader
    {
        guard bytes.count == 18, let orientation = Orientation(rawValue: bytes[5]) else {
            throw .truncated(byteCount: bytes.count)
        }
        var header = ImageHeader(
            storedSize: PixelSize(width: number(bytes, 6), height: number(bytes, 10)),
            colorModel: bytes[4] == 1 ? .gray : .rgb, bitsPerComponent: 8)
        header.hasAlpha = bytes[4] == 4
        header.orientation = orientation
        return header
    }

    public func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        counts.withLock { $0.begun += 1 }
        defer { counts.withLock { $0.ended += 1 } }
        gate?.wait()
        let size = PixelSize(width: number(bytes, 6), height: number(bytes, 10))
        let channelCount = Int(bytes[4])
        let format: PixelFormat = [1: .gray8, 3: .rgb8][channelCount] ?? .rgba8
        try rows.begin(size, format, .sRGB)
        var row = [UInt8](repeating: 0, count: size.width * channelCount)
        let isLarge = size.area > 4 << 20
        for y in 0..<size.height {
            if y == number(bytes, 14) { throw error }
            // Large images repeat a few rows, because computing all of them would be slow.
            if !isLarge || y < 2 {
                for index in row.indices {
                    row[index] = Self.sample(index / channelCount, y, index % channelCount)
                }
            }
            try rows.append(row.span)
        }
    }

    /// An encoder of minimal files, for tests that check only which tiles exist.
    public func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8]
    {
        [image.row(0)[0]]
    }

    private func number(_ bytes: Span<UInt8>, _ start: Int) -> Int {
        (0..<4).reversed().reduce(0) { $0 << 8 | Int(bytes[start + $1]) }
    }
}
