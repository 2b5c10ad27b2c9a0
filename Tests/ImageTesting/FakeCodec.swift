// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import EncodedImages
public import Pixels
internal import Synchronization

/// Reads and writes a format so simple that tests of what lies above codecs need no other.
///
/// A file is the signature `FAKE`, width and height in two bytes each, the lower first, and the
/// grey that every pixel has; what follows does not count.
public final class FakeCodec: ImageCodec, ImageDecoder, ImageEncoder {
    /// Called by each decode, with the grey value of its image.
    public enum Event: Hashable, Sendable {
        case began(UInt8), cancelled(UInt8), finished(UInt8)
    }

    public let format = ImageFormat(
        name: "fake", extensions: ["fake"], mediaType: "image/x-fake",
        signatures: [.init(Array("FAKE".utf8))])
    public var decoder: any ImageDecoder { self }
    public var encoder: (any ImageEncoder)? { self }

    private let events: AsyncStream<Event>
    private let sink: AsyncStream<Event>.Continuation
    private let begun = Mutex<[UInt8]>([])
    /// Where decodes wait to be let through, if they do.
    private let gate: DispatchSemaphore?
    private let isProgressive: Bool
    private let hasPlanes: Bool
    private let partCount = Atomic<Int>(0)

    /// - Parameters:
    ///   - isGated: whether each decode waits for ``openGate(_:)`` once it has begun.
    ///   - isProgressive: whether each byte behind the grey is a pass of an image that is coming
    ///     in; the preview of a pass has its number as grey.
    ///   - hasPlanes: whether it claims to make the same planes for sizes of at least 50 pixels.
    public init(isGated: Bool = false, isProgressive: Bool = false, hasPlanes: Bool = false) {
        self.hasPlanes = hasPlanes
        gate = isGated ? DispatchSemaphore(value: 0) : nil
        self.isProgressive = isProgressive
        (events, sink) = AsyncStream.makeStream()
    }

    /// The grey of each decode that has begun, the first first.
    public var decodes: [UInt8] { begun.withLock { $0 } }

    /// How often a part of a file has been decoded.
    public var partialDecodeCount: Int { partCount.load(ordering: .relaxed) }

    /// Waits for what a decode does next.
    public func nextEvent() async -> Event? {
        for await event in events { return event }
        return nil
    }

    /// Lets so many decodes through the gate, those that wait there or the next to come.
    public func openGate(_ count: Int) {
        for _ in 0..<count { gate?.signal() }
    }

    /// A complete file as the encoder writes it, followed by one byte per pixel.
    public static func file(_ size: PixelSize, grey: UInt8) -> [UInt8] {
        let sides = [size.width, size.height].flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        return Array("FAKE".utf8) + sides + [UInt8](repeating: grey, count: 1 + size.area)
    }

    public func header(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> ImageHeader {
        guard bytes.count >= 9 else { throw .truncated(byteCount: bytes.count) }
        return ImageHeader(
            storedSize: PixelSize(
                width: Int(bytes[4]) | Int(bytes[5]) << 8,
                height: Int(bytes[6]) | Int(bytes[7]) << 8),
            colorModel: .gray, bitsPerComponent: 8)
    }

    public func sharesPlanes(_ plan: DecodePlan, _ other: DecodePlan) -> Bool {
        hasPlanes && [plan, other].allSatisfy { $0.resultSize.largestSide >= 50 }
    }

    public func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let grey = bytes[8]
        begun.withLock { $0.append(grey) }
        sink.yield(.began(grey))
        gate?.wait()
        do throws(CodecError) {
            let size = rows.storedSize
            try rows.begin(size, .gray8, .sRGB)
            let row = [UInt8](repeating: grey, count: size.width)
            for _ in 0..<size.height { try rows.append(row.span) }
        } catch {
            sink.yield(.cancelled(grey))
            throw error
        }
        sink.yield(.finished(grey))
    }

    public func incrementalDecoder(
        limits: DecodeLimits
    ) throws(CodecError) -> (any IncrementalDecoder)? {
        isProgressive ? FakeIncrementalDecoder { self.partCount.add(1, ordering: .relaxed) } : nil
    }

    public func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        Self.file(image.size, grey: image.row(0)[0])
    }
}

/// Shows every pass of a fake file as it comes in, and never its end.
private final class FakeIncrementalDecoder: IncrementalDecoder {
    private let count: () -> Void
    private var size = PixelSize(width: 1, height: 1)
    private(set) var passCount = 0

    init(count: @escaping () -> Void) { self.count = count }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        count()
        size = rows.storedSize
        passCount = bytes.count - 9
        throw .truncated(byteCount: bytes.count)
    }

    func drawPass(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        try rows.begin(size, .gray8, .sRGB)
        let row = [UInt8](repeating: UInt8(clamping: passCount), count: size.width)
        for _ in 0..<size.height { try rows.append(row.span) }
    }
}
