// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CalotypeServer
@testable import ImageCommands

@Suite("A scroll trace") struct ScrollTraceTests {
    private func trace(_ lines: String) throws -> ScrollTrace {
        try ScrollTrace("own", csv: Array("milliseconds,pixels\n\(lines)\n".utf8))
    }

    @Test(
        "that is built in begins and ends at rest", arguments: ScrollTrace.builtInNames)
    func builtIn(name: String) throws {
        let trace = try #require(try ScrollTrace.builtIn(name))
        #expect(trace.name == name)
        #expect(trace.duration == 3.5)
        #expect(trace.samples.count == 211)
        #expect(trace.samples.allSatisfy { $0.offset >= 0 })
        let last = try #require(trace.rests(until: trace.duration).last)
        #expect(last.upperBound == trace.duration)
        // The trace contains movement.
        #expect(Set(trace.samples.map(\.offset)).count > 2)
    }

    @Test("with an unknown name is not built in")
    func unknown() throws {
        #expect(try ScrollTrace.builtIn("holiday") == nil)
    }

    @Test("interpolates linearly between samples, and stays at the last one")
    func offsets() throws {
        let trace = try trace("100,10\n200,20\n300,0")
        for (time, offset) in [(0.0, 10.0), (0.1, 10), (0.15, 15), (0.2, 20), (0.25, 10), (9, 0)] {
            #expect(abs(trace.offset(at: time) - offset) < 1e-9, "\(time)")
        }
    }

    @Test("reaches a sample at its time even if that is rounded")
    func rounding() throws {
        let trace = try trace("383.333,0\n400,16000")
        #expect(trace.offset(at: 23.0 / 60) == 0)
        #expect(trace.offset(at: 24.0 / 60) == 16000)
        #expect(try self.trace("383.334,5\n400,16000").offset(at: 23.0 / 60) == 5)
    }

    @Test("rests where it does not move for long enough after a movement")
    func rests() throws {
        let trace = try trace("0,0\n500,0\n600,9\n700,9\n800,8\n1000,8\n1400,8\n1500,7\n2000,7")
        #expect(trace.rests(until: 2) == [0.8..<1.4, 1.5..<2])
        #expect(trace.rests(until: 1.6) == [0.8..<1.4])
        // Rests after the given end are left out.
        #expect(trace.rests(until: 0.7) == [])
    }

    @Test(
        "that is invalid is rejected with the line number",
        arguments: [
            ("0,1\n5", 3), ("0,1\nx,1", 3), ("5,1\n5,2", 3), ("nan,1", 2), ("1,inf", 2),
            ("1,2,3", 2),
        ])
    func refused(lines: String, number: Int) {
        #expect(
            throws: FileFailure(
                "own", "invalid line \(number): use increasing milliseconds and an offset")
        ) { try trace(lines) }
    }

    @Test("without samples is rejected")
    func empty() {
        #expect(throws: FileFailure("own", "the trace has no samples")) { try trace("") }
    }
}
