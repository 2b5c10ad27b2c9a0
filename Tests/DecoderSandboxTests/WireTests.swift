// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import DecoderSandbox

/// The host validates everything that a worker sends.
@Suite struct WireTests {
    @Test(arguments: ["shout", "babble", "leave", "say 00", "say 434c3244"])
    func `an invalid response stops the worker`(word: String) throws {
        let sandbox = try Sandboxes.make { $0.deadlineSeconds = 1 }
        defer { sandbox.close() }
        guard case .failure(.decoderStopped) = Sandboxes.image(word, sandbox) else {
            Issue.record("\(word) was accepted as a response")
            return
        }
        #expect(try Sandboxes.image("behave", sandbox).get().size.width == 8)
    }

    @Test func `a header survives a round trip`() throws {
        for header in Self.headers {
            var writer = WireWriter()
            writer.write(header)
            var reader = WireReader(writer.bytes)
            #expect(try ImageHeader(from: &reader) == header)
            #expect(throws: Never.self) { try reader.end() }
        }
    }

    @Test func `damaged messages are rejected or read as valid headers`() throws {
        var random = SeededRandom(seed: 6)
        for header in Self.headers {
            var writer = WireWriter()
            writer.write(header)
            for _ in 0..<5000 {
                var bytes = writer.bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = .random(
                        in: 0...255, using: &random)
                }
                if Bool.random(using: &random) {
                    bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
                }
                var reader = WireReader(bytes)
                // A header that is accepted satisfies all invariants.
                guard let changed = try? ImageHeader(from: &reader) else { continue }
                #expect(changed.storedSize.width > 0 && changed.storedSize.height > 0)
                #expect(changed.storedSize.area >= 0)
                #expect(changed.frameCount > 0 && changed.pageCount > 0)
            }
        }
    }

    @Test func `an image that exceeds the shared memory is rejected`() throws {
        var writer = WireWriter()
        writer.write(PixelSize(width: 100, height: 100))
        writer.write(PixelFormat.rgba8)
        writer.write(ColorProfile.sRGB)
        var reader = WireReader(writer.bytes)
        let shared = try #require(SharedDescriptor(byteCount: ControlPage.byteCount))
        let room = try #require(
            MemoryMapping(shared.number, byteCount: ControlPage.byteCount))
        let memory = try ReceivedPixels(64, buffer: room)
        #expect(throws: WireError.self) { _ = try memory.image(&reader) }
    }

    @Test(arguments: [
        (0, 1), (1, 0), (-1, 1), (Int.max, Int.max), (1 << 31, 1), (Int.min, 5),
    ])
    func `an image with an invalid size is rejected`(width: Int, height: Int) throws {
        var writer = WireWriter()
        writer.write(PixelSize(width: width, height: height))
        var reader = WireReader(writer.bytes)
        #expect(throws: WireError.self) { _ = try PixelSize(imageFrom: &reader) }
    }

    private static var headers: [ImageHeader] {
        var plain = ImageHeader(
            storedSize: PixelSize(width: 640, height: 480), colorModel: .rgb, bitsPerComponent: 8)
        var rich = plain
        plain.orientation = .rotated90
        rich.colorProfile = .icc(Array(0...255))
        rich.thumbnail = 20..<400
        rich.facts = [.init("scans", "10"), .init("coding", "progressive")]
        rich.frameCount = 4
        rich.loopCount = 0
        var calibrated = plain
        calibrated.colorProfile = .calibrated(gamma: 0.45455, .sRGB)
        var coded = plain
        coded.colorProfile = .coded(CICP(primaries: 9, transfer: 16))
        return [plain, rich, calibrated, coded]
    }
}
