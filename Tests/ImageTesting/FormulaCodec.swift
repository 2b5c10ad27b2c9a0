// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import EncodedImages
public import Pixels
internal import Synchronization

/// Decodes images of any size from a formula, row by row, without memory for pixels.
///
/// A file is the signature `ROWS`, then a byte each for the channels, the orientation and, in four
/// bytes each, the lowest first, width, height and the row at which it turns out to be damaged.
public final class FormulaCodec: ImageCodec, ImageDecoder, ImageEncoder {
    public let format = ImageFormat(
        name: "rows", extensions: ["rows"], mediaType: "image/x-rows",
        signatures: [.init(Array("ROWS".utf8))])
    public var decoder: any ImageDecoder { self }
    public var encoder: (any ImageEncoder)? { self }

    private let counts = Mutex((begun: 0, ended: 0))
    private let gate: DispatchSemaphore?
    /// What damage is reported as.
    private let error: CodecError

    public init(isGated: Bool = false, error: CodecError = .malformed(reason: "damage", offset: 7))
    {
        gate = isGated ? DispatchSemaphore(value: 0) : nil
        self.error = error
    }

    /// How many decodes have begun and how many have ended in whatever way.
    public var decodes: (begun: Int, ended: Int) { counts.withLock { $0 } }

    /// Lets a decode that waits at the gate go on.
    public func openGate() { gate?.signal() }

    public static func file(
        _ size: PixelSize, channelCount: Int = 3, orientation: Orientation = .upright,
        damagedRow: Int = .max
    ) -> EncodedBytes {
        let numbers = [size.width, size.height, min(damagedRow, Int(UInt32.max))]
        return EncodedBytes(
            Array("ROWS".utf8) + [UInt8(channelCount), orientation.rawValue]
                + numbers.flatMap { number in (0..<4).map { UInt8(number >> (8 * $0) & 255) } })
    }

    /// Returns the sample of an image at a position; alpha is never less than a colour.
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
            // A large one repeats a few rows, because making them would take longest.
            if !isLarge || y < 2 {
                for index in row.indices {
                    row[index] = Self.sample(index / channelCount, y, index % channelCount)
                }
            }
            try rows.append(row.span)
        }
    }

    /// A file as small as can be, for tests that want to know only which tiles there are.
    public func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8]
    {
        [image.row(0)[0]]
    }

    private func number(_ bytes: Span<UInt8>, _ start: Int) -> Int {
        (0..<4).reversed().reduce(0) { $0 << 8 | Int(bytes[start + $1]) }
    }
}
