// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing

/// The reference for tests of other decoders, itself tested against Pillow.
@Suite("Plain JPEG decoder") struct PlainJPEGTests {
    /// The number of components compared.
    struct Tally: CustomStringConvertible {
        var full = 0
        var eighth = 0
        var refused = 0
        var longestCode = 0
        var progressive = 0
        var description: String {
            "\(full) components in full, \(eighth) at an eighth, \(refused) files refused by "
                + "Pillow, \(progressive) progressive, longest code \(longestCode)"
        }
    }

    @Test(
        "samples of the project's files equal those of Pillow",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func ownFiles() throws {
        let files = SampleFiles.own("jpeg", "valid").filter {
            !$0.lastPathComponent.contains("arithmetic")
        }
        let tally = try compare(files.map { ($0, $0.lastPathComponent) })
        #expect(tally.refused == 0)
        #expect(tally.full >= files.count)
    }

    @Test(
        "a generated file depends only on its seed and number",
        .enabled(if: JPEGVariants.toolsAreInstalled, "\(JPEGVariants.requirement)"))
    func reproducible() throws {
        try withTemporaryFolder { folder in
            let files = try JPEGVariants.make(count: 30, seed: 3, in: folder)
            let again = try JPEGVariants.make(20..<30, seed: 3, in: folder)
            #expect(files[20...].map(\.bytes) == again.map(\.bytes))
            #expect(files[20...].map(\.recipe) == again.map(\.recipe))
            #expect(Set(files.map(\.bytes)).count == files.count)
        }
    }

    @Test("arithmetic coding is reported as unsupported")
    func arithmetic() throws {
        for file in SampleFiles.own("jpeg", "valid")
        where file.lastPathComponent.contains("arithmetic") {
            #expect {
                try PlainJPEG(Array(try Data(contentsOf: file)))
            } throws: { error in
                if case PlainJPEGError.unsupported = error { true } else { false }
            }
        }
    }

    @Test(
        "samples of generated files equal those of Pillow",
        .enabled(if: JPEGVariants.toolsAreInstalled, "\(JPEGVariants.requirement)"),
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func variants() throws {
        let count = JPEGVariants.fileCount / 5
        var total = Tally()
        for start in stride(from: 0, to: count, by: 500) {
            try withTemporaryFolder { folder in
                let variants = try JPEGVariants.make(
                    start..<min(start + 500, count), seed: 1, in: folder)
                var whole: [(URL, String)] = []
                var parts: [(URL, String)] = []
                for (index, variant) in variants.enumerated() {
                    let file = folder.appending(path: "\(index).jpg")
                    try Data(variant.bytes).write(to: file)
                    if variant.isComplete { whole.append((file, variant.recipe)) }
                    for (number, bytes) in variant.parts.enumerated() {
                        let part = folder.appending(path: "\(index).\(number).jpg")
                        try Data(bytes).write(to: part)
                        parts.append((part, "\(number) of \(variant.recipe)"))
                    }
                    try compareParts(variant)
                }
                for files in [whole, parts] {
                    let tally = try compare(files)
                    total.full += tally.full
                    total.eighth += tally.eighth
                    total.refused += tally.refused
                    total.progressive += tally.progressive
                    total.longestCode = max(total.longestCode, tally.longestCode)
                }
            }
        }
        print("Plain decoder and Pillow: \(total)")
        #expect(total.full > count)
        #expect(total.eighth > count)
        // Pillow rejects sampling factors that do not divide each other, and files with two
        // components.
        #expect(total.refused < count / 3)
        #expect(total.longestCode == 16)
    }

    @Test(
        "planes of each size follow the formula",
        .enabled(if: JPEGVariants.toolsAreInstalled, "\(JPEGVariants.requirement)"))
    func formula() throws {
        let variants = try withTemporaryFolder {
            try JPEGVariants.make(count: 20, seed: 2, in: $0)
        }
        for variant in variants {
            for component in try PlainJPEG(variant.bytes).components {
                for size in [1, 2, 4, 8] {
                    let plane = component.lowFrequencyPlane(size: size)
                    #expect(plane.samples.count == plane.width * plane.height)
                    #expect(plane.width > (component.blocksAcross - 1) * size)
                    #expect(plane.width <= component.blocksAcross * size)
                    // Some samples of each plane, including the last.
                    let last = plane.samples.count - 1
                    for index in Set([0, last / 3, last / 2, last]) {
                        let expected = sample(
                            component, size, index % plane.width, index / plane.width)
                        #expect(abs(plane.samples[index] - expected) < 1e-6)
                    }
                }
            }
        }
    }

    /// Computes one sample as a sum over all coefficients.
    private func sample(_ component: PlainJPEG.Component, _ n: Int, _ x: Int, _ y: Int) -> Double {
        let block = component.coefficients(blockX: x / n, blockY: y / n)
        func basis(_ u: Int, _ i: Int) -> Double {
            let angle = Double((2 * i + 1) * u) * Double.pi / Double(2 * n)
            return u == 0 ? 1 : 2.0.squareRoot() * cos(angle)
        }
        var sum = 0.0
        for v in 0..<n {
            for u in 0..<n {
                let value = Double(block[v * 8 + u] * component.quantization[v * 8 + u])
                sum += basis(u, x % n) * basis(v, y % n) * value
            }
        }
        return 128 + sum / 8
    }

    /// Compares the coefficients of a file with those of the grey files that it was composed of.
    private func compareParts(_ variant: JPEGVariant) throws {
        guard !variant.parts.isEmpty else { return }
        let whole = try PlainJPEG(variant.bytes)
        #expect(whole.components.count == variant.parts.count, "\(variant.recipe)")
        for (component, bytes) in zip(whole.components, variant.parts) {
            let part = try #require(try PlainJPEG(bytes).components.first)
            var isSame =
                part.width == component.width && part.height == component.height
                && part.quantization == component.quantization
            for y in 0..<part.blocksDown where isSame {
                for x in 0..<part.blocksAcross {
                    let expected = part.coefficients(blockX: x, blockY: y)
                    isSame = isSame && component.coefficients(blockX: x, blockY: y) == expected
                }
            }
            #expect(isSame, "component \(component.identifier) of \(variant.recipe)")
        }
    }

    /// Compares each component that Pillow neither converts nor upsamples.
    private func compare(_ files: [(file: URL, name: String)]) throws -> Tally {
        var tally = Tally()
        let full = try #require(try PeerPlanes.read(files.map(\.file), scale: 1))
        let eighth = try #require(try PeerPlanes.read(files.map(\.file), scale: 8))
        for (index, (file, name)) in files.enumerated() {
            let image: PlainJPEG
            do {
                image = try PlainJPEG(Array(try Data(contentsOf: file)))
            } catch {
                Issue.record("\(error): \(name)")
                continue
            }
            tally.longestCode = max(tally.longestCode, image.longestCode)
            tally.progressive += image.isProgressive ? 1 : 0
            guard let large = full[index], let small = eighth[index] else {
                tally.refused += 1
                continue
            }
            let most = (
                image.components.map(\.horizontalSampling).max(),
                image.components.map(\.verticalSampling).max()
            )
            #expect(large.channelCount == image.components.count)
            for (channel, component) in image.components.enumerated() {
                guard component.horizontalSampling == most.0, component.verticalSampling == most.1,
                    large.mode != "YCCK" || channel == 3
                else { continue }
                let difference = largestDifference(component, large, channel)
                #expect(difference <= 1, "component \(channel) of \(name)")
                tally.full += 1
                #expect(isDC(component, small, channel), "component \(channel) of \(name)")
                tally.eighth += 1
            }
        }
        return tally
    }

    private func largestDifference(
        _ component: PlainJPEG.Component, _ peer: PeerPlanes, _ channel: Int
    ) -> Int {
        let plane = component.lowFrequencyPlane(size: 8)
        guard plane.width == peer.width, plane.height == peer.height else { return 255 }
        var largest = 0
        for (index, sample) in plane.samples.enumerated() {
            let rounded = Int(max(0, min(255, sample)).rounded())
            let other = Int(peer.samples[index * peer.channelCount + channel])
            largest = max(largest, abs(rounded - other))
        }
        return largest
    }

    /// Returns whether ⅛ of an image equals what libjpeg computes from DC coefficients.
    private func isDC(
        _ component: PlainJPEG.Component, _ peer: PeerPlanes, _ channel: Int
    ) -> Bool {
        let plane = component.lowFrequencyPlane(size: 1)
        guard plane.width == peer.width, plane.height == peer.height else { return false }
        return plane.samples.enumerated().allSatisfy { index, sample in
            let value = Int(((sample - 128) + 0.5).rounded(.down)) + 128
            let block = component.coefficients(
                blockX: index % plane.width, blockY: index / plane.width)
            let dc = (block[0] * component.quantization[0] + 4) >> 3 + 128
            return value == dc
                && max(0, min(255, dc)) == Int(peer.samples[index * peer.channelCount + channel])
        }
    }
}
