// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

/// ⅛ of an image is computed in integers, so it equals that of libjpeg-turbo exactly.
@Suite(
    "Shrinking decoder: libjpeg-turbo",
    .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
struct ShrinkingDecoderPeerTests {
    struct Tally: CustomStringConvertible {
        var files = 0
        var components = 0
        var subsampled = 0
        var refused = 0
        var notHandled = 0
        var namesNotHandled: [String] = []
        var description: String {
            "\(files) files, \(components) components, \(subsampled) of them subsampled, "
                + "\(refused) files refused by Pillow, \(notHandled) not handled \(namesNotHandled)"
        }
    }

    @Test(
        "⅛ of generated files is identical",
        .enabled(if: JPEGVariants.toolsAreInstalled, "\(JPEGVariants.requirement)"))
    func generated() throws {
        var total = Tally()
        let count = GeneratedFiles.count
        for start in stride(from: 0, to: count, by: 500) {
            try withTemporaryFolder { folder in
                // libjpeg smooths incomplete images.
                let variants = try JPEGVariants.make(
                    start..<min(start + 500, count), seed: 13, in: folder
                ).filter(\.isComplete)
                let files = try variants.enumerated().map { index, variant in
                    let file = folder.appending(path: "\(index).jpg")
                    try Data(variant.bytes).write(to: file)
                    return (file, variant.bytes, variant.recipe)
                }
                try compare(files, &total)
            }
        }
        print("Shrinking decoder and Pillow, generated files: \(total)")
        #expect(total.components > total.files)
        #expect(total.subsampled > total.files / 10)
        #expect(total.refused < total.files / 3)
        #expect(total.notHandled < total.files / 8)
    }

    @Test(
        "⅛ of the project's files and of real ones is identical",
        .enabled(if: TestBuild.isOptimized, GeneratedFiles.needsOptimization))
    func real() throws {
        var total = Tally()
        // libjpeg conceals truncation; other damage is covered by HostileFileTests.
        let files = try RealJPEG.files(pixelLimit: .max).filter { _, bytes in
            (try? ImageSource(EncodedBytes(bytes), codecs: builtInCodecs).image()) != nil
        }
        for start in stride(from: 0, to: files.count, by: 20) {
            let some = files[start..<min(start + 20, files.count)]
            try compare(some.map { ($0.file, $0.bytes, $0.file.path) }, &total)
        }
        print("Shrinking decoder and Pillow, the project's and real files: \(total)")
        #expect(total.components >= 20)
        #expect(total.notHandled <= total.files / 10 + 2)
    }

    private func compare(
        _ files: [(file: URL, bytes: [UInt8], name: String)], _ tally: inout Tally
    ) throws {
        let peers = try #require(try PeerPlanes.read(files.map(\.file), scale: 8))
        for ((_, bytes, name), peer) in zip(files, peers) {
            tally.files += 1
            guard let peer else {
                tally.refused += 1
                continue
            }
            guard let planes = try ShrunkPlanes.decode(bytes, sides: [1]),
                let image = planes.image
            else {
                tally.notHandled += 1
                tally.namesNotHandled.append(String(name.suffix(60)))
                continue
            }
            let frame = image.frame
            for (index, component) in frame.components.enumerated() {
                let repeats = (
                    across: frame.maximumHorizontalSampling / component.horizontalSampling,
                    down: frame.maximumVerticalSampling / component.verticalSampling
                )
                guard peer.mode != "YCCK" || index == 3,
                    repeats.across * component.horizontalSampling
                        == frame.maximumHorizontalSampling,
                    repeats.down * component.verticalSampling == frame.maximumVerticalSampling,
                    // Components at half resolution in both directions are decoded from 2x2
                    // coefficients.
                    !(repeats.across.isMultiple(of: 2) && repeats.down.isMultiple(of: 2))
                else { continue }
                let size = image.size(of: index)
                let samples = planes.samples[index]
                let isSame = (0..<peer.height).allSatisfy { y in
                    (0..<peer.width).allSatisfy { x in
                        let place = y / repeats.down * size.width + x / repeats.across
                        return place < samples.count
                            && samples[place]
                                == peer.samples[
                                    (y * peer.width + x) * peer.channelCount + index]
                    }
                }
                #expect(isSame, "component \(index) of \(name)")
                tally.components += 1
                tally.subsampled += repeats == (1, 1) ? 0 : 1
            }
        }
    }
}
