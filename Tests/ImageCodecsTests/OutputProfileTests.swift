// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

#if ICC
@Suite("The profile of a monitor") struct OutputProfileTests {
    private func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }

    @Test(
        "converts the colours of any profile, as Pillow does",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func conversion() throws {
        let folder = try TemporaryFolder()
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/monitor.py").path
        let python = try #require(PeerTool.python)
        _ = try #require(try PeerTool.run(python, [script, folder.path]))
        var options = DecodeOptions()
        options.keepsDepth = true
        options.pixelFormat = .rgbaHalf
        for monitor in ["wide", "office", "print"] {
            let profile = try OutputProfile(bytes(folder.path("\(monitor).icc")))
            #expect(profile.name == "monitor")
            for chart in ["srgb", "p3", "adobe", "bt2020", "prophoto", "apple"] {
                let source = try ImageSource(
                    EncodedBytes(mapping: folder.path("\(chart).png")), codecs: builtInCodecs)
                let shown = try profile.converted(source.image(options))
                #expect(shown.format == .rgb8)
                let expected = try #require(
                    PeerTool.image(bytes(folder.path("\(chart)-\(monitor).ppm"))))
                let comparison = PixelComparison(shown, expected)
                // Near 0 the curve of a monitor is steep: rounding of 1/100,000 is 4 levels.
                #expect(comparison.maximumDifference <= 4, "\(chart), \(monitor): \(comparison)")
                #expect(comparison.meanDifference < 0.3, "\(chart), \(monitor): \(comparison)")
            }
        }
    }

    @Test("that is damaged or not for RGB is refused") func refused() throws {
        #expect(throws: CodecError.self) { try OutputProfile([]) }
        #expect(throws: CodecError.self) {
            try OutputProfile([UInt8](repeating: 7, count: 500))
        }
    }
}
#endif
