// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("Frames of an animation") struct ImageFramesTests {
    private static let size = PixelSize(width: 4, height: 2)

    private static func frame(
        _ x: Int, _ width: Int, _ color: [UInt8], _ disposal: StoredFrame.Disposal,
        _ blending: StoredFrame.Blending = .over
    ) -> StoredFrame {
        StoredFrame(
            region: PixelRect(x: x, y: 0, width: width, height: 2),
            duration: .milliseconds(40), disposal: disposal, blending: blending,
            image: TestImage.flat(PixelSize(width: width, height: 2), .rgba8, color))
    }

    private struct Reader: FrameReader {
        var frames: [StoredFrame]
        var error: CodecError?

        mutating func next() throws(CodecError) -> StoredFrame? {
            guard !frames.isEmpty else {
                if let error { throw error }
                return nil
            }
            return frames.removeFirst()
        }
    }

    private struct Codec: ImageCodec, ImageDecoder {
        var frames: [StoredFrame]
        var error: CodecError?
        let format = ImageFormat(
            name: "moving", extensions: [], mediaType: "image/x-moving",
            signatures: [.init(Array("MOVE".utf8))])
        var decoder: any ImageDecoder { self }
        var encoder: (any ImageEncoder)? { nil }

        func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
            var header = ImageHeader(
                storedSize: ImageFramesTests.size, colorModel: .rgb, bitsPerComponent: 8)
            header.frameCount = frames.count
            header.loopCount = 3
            return header
        }

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            try rows.begin(ImageFramesTests.size, .gray8, .sRGB)
            for _ in 0..<2 { try rows.append([1, 2, 3, 4].span) }
        }

        func frameReader(
            for bytes: EncodedBytes, limits: DecodeLimits
        ) throws(CodecError) -> (any FrameReader)? { Reader(frames: frames, error: error) }
    }

    private func source(
        _ frames: [StoredFrame], error: CodecError? = nil, limits: DecodeLimits = DecodeLimits()
    ) throws -> ImageSource {
        try ImageSource(
            EncodedBytes(Array("MOVE".utf8)),
            codecs: CodecSet([Codec(frames: frames, error: error)]),
            limits: limits)
    }

    /// The first row of each frame, a letter a pixel.
    private func rows(_ source: ImageSource) throws -> [String] {
        var frames = try source.frames(.strict)
        var rows: [String] = []
        while let frame = try frames.next() {
            let bytes = frame.image.packedBytes
            rows.append(
                String(
                    stride(from: 0, to: 16, by: 4).map { pixel -> Character in
                        switch Array(bytes[pixel..<pixel + 4]) {
                        case [255, 0, 0, 255]: "r"
                        case [0, 255, 0, 255]: "g"
                        case [0, 0, 255, 255]: "b"
                        case [0, 0, 0, 0]: "."
                        default: "?"
                        }
                    }))
        }
        return rows
    }

    private let red: [UInt8] = [255, 0, 0, 255]
    private let green: [UInt8] = [0, 255, 0, 255]
    private let blue: [UInt8] = [0, 0, 255, 255]
    private let clear: [UInt8] = [0, 0, 0, 0]

    @Test("are kept, cleared or undone by their disposal")
    func disposal() throws {
        let frames = [
            Self.frame(0, 3, red, .keep), Self.frame(1, 2, green, .restore),
            Self.frame(2, 2, blue, .clear), Self.frame(0, 1, green, .keep),
        ]
        #expect(try rows(source(frames)) == ["rrr.", "rgg.", "rrbb", "gr.."])
    }

    @Test("are composited over the canvas or replace it")
    func blending() throws {
        let frames = [
            Self.frame(0, 4, red, .keep), Self.frame(1, 2, clear, .keep, .over),
            Self.frame(1, 2, clear, .keep, .replace),
        ]
        #expect(try rows(source(frames)) == ["rrrr", "rrrr", "r..r"])
    }

    @Test("are clipped to the canvas")
    func clipping() throws {
        let frames = [Self.frame(-1, 3, red, .restore), Self.frame(3, 9, blue, .keep)]
        #expect(try rows(source(frames)) == ["rr..", "...b"])
    }

    @Test("are blended by alpha")
    func mixing() throws {
        let half = TestImage.flat(PixelSize(width: 4, height: 2), .rgba8, [0, 0, 255, 128])
        let frames = [
            Self.frame(0, 4, red, .keep),
            StoredFrame(
                region: PixelRect(Self.size), duration: .zero, blending: .over, image: half),
        ]
        var shown = try source(frames).frames()
        _ = try shown.next()
        let second = try #require(try shown.next())
        #expect(Array(second.image.packedBytes.prefix(4)) == [127, 0, 128, 255])
    }

    @Test("have the size of the options and their durations")
    func resized() throws {
        let opened = try source([Self.frame(0, 4, red, .keep), Self.frame(0, 4, blue, .keep)])
        var frames = try opened.frames(DecodeOptions(maximumSide: 2))
        #expect(frames.loopCount == 3)
        let first = try #require(try frames.next())
        #expect(first.image.size == PixelSize(width: 2, height: 1))
        #expect(first.duration == .milliseconds(40))
        #expect(first.image.packedBytes == red + red)
    }

    @Test("end with a truncated file, if that is accepted")
    func truncated() throws {
        let frames = [Self.frame(0, 4, red, .keep), Self.frame(0, 4, blue, .keep)]
        let opened = try source(frames, error: .truncated(byteCount: 4))
        #expect(throws: CodecError.truncated(byteCount: 4)) { _ = try rows(opened) }
        var shown = try opened.frames()
        var count = 0
        while try shown.next() != nil { count += 1 }
        #expect(count == 2)
    }

    @Test("a still image is its only frame")
    func still() throws {
        let opened = try source([Self.frame(0, 4, red, .keep)])
        var frames = try opened.frames()
        let only = try #require(try frames.next())
        #expect(only.image.packedBytes == [1, 2, 3, 4, 1, 2, 3, 4])
        #expect(try frames.next() == nil)
    }

    @Test("are limited in number, and in memory before the first is decoded")
    func limits() throws {
        let frames = [Self.frame(0, 4, red, .keep), Self.frame(0, 4, blue, .keep)]
        var limits = DecodeLimits()
        limits.maximumFrameCount = 1
        #expect(throws: CodecError.limitExceeded(.frameCount, needed: 2, allowed: 1)) {
            _ = try source(frames, limits: limits)
        }
        limits = DecodeLimits()
        limits.maximumMemoryByteCount = 100
        let opened = try source(frames, limits: limits)
        #expect(throws: CodecError.self) { _ = try opened.frames() }
    }

    @Test("stop when cancelled")
    func cancelled() throws {
        let flag = CancellationFlag()
        var frames = try source([Self.frame(0, 4, red, .keep), Self.frame(0, 4, blue, .keep)])
            .frames(cancellation: flag)
        _ = try frames.next()
        flag.cancel()
        #expect(throws: CodecError.cancelled) { _ = try frames.next() }
    }
}
