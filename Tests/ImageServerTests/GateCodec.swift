// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EncodedImages
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Pixels
import Synchronization

/// A codec whose images take as long to decode as a test requires.
///
/// A file contains `GATE`, which waits for release, or `GATELONG`, which waits for
/// cancellation.
final class GateCodec: ImageCodec, ImageDecoder {
    enum Event: Sendable {
        case began, cancelled, finished
    }

    let format = ImageFormat(
        name: "gate", extensions: ["gate"], mediaType: "image/x-gate",
        signatures: [.init(Array("GATE".utf8))])
    let encoder: (any ImageEncoder)? = nil
    var decoder: any ImageDecoder { self }

    private let events: AsyncStream<Event>
    private let sink: AsyncStream<Event>.Continuation
    private let gate = DispatchSemaphore(value: 0)

    init() {
        (events, sink) = AsyncStream.makeStream()
    }

    /// Waits for the next event of decoding.
    func nextEvent() async -> Event? {
        for await event in events { return event }
        return nil
    }

    /// Releases one image.
    func open() { gate.signal() }

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let isLong = bytes.count > 4
        return ImageHeader(
            storedSize: isLong
                ? PixelSize(width: 6_000, height: 60_000) : PixelSize(width: 4, height: 4),
            colorModel: .gray, bitsPerComponent: 8)
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        sink.yield(.began)
        let size = rows.storedSize
        if size.width == 4 {
            gate.wait()
        } else {
            while rows.cancellation?.isCancelled == false { sched_yield() }
        }
        try rows.begin(size, .gray8, .sRGB)
        let row = [UInt8](repeating: 128, count: size.width)
        do throws(CodecError) {
            for _ in 0..<size.height { try rows.append(row.span) }
        } catch {
            sink.yield(.cancelled)
            throw error
        }
        sink.yield(.finished)
    }
}
