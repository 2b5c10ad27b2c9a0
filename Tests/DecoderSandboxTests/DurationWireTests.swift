// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DecoderSandbox

@Suite("Duration in the wire format") struct DurationWireTests {
    private func read(_ seconds: Int, _ attoseconds: Int) throws -> Duration {
        var writer = WireWriter()
        writer.write(seconds)
        writer.write(attoseconds)
        var reader = WireReader(writer.bytes)
        return try reader.value()
    }

    @Test("survives a round trip", arguments: [Duration.zero, .milliseconds(40), .seconds(65_535)])
    func roundTrip(duration: Duration) throws {
        var writer = WireWriter()
        writer.write(duration)
        var reader = WireReader(writer.bytes)
        #expect(try reader.value(Duration.self) == duration)
    }

    @Test("is rejected if the durations of frames could overflow")
    func hostile() {
        for (seconds, attoseconds) in [
            (Int.max, 0), (Int.min, 0), (-1, 0), (0, -1), (0, Int.max), (1 << 31, 0),
        ] {
            #expect(throws: WireError.self) { try read(seconds, attoseconds) }
        }
    }
}
