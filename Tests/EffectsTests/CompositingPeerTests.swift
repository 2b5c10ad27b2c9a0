// SPDX-License-Identifier: Apache-2.0

import Effects
import Foundation
import ImageTesting
import Pixels
import Testing

@Suite(
    "Compositing, compared with other programs",
    .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
struct CompositingPeerTests {
    /// A blend mode or an operator by its name in the specification.
    private struct Operation {
        let name: String
        var mode = BlendMode.normal
        var composite = CompositeOperator.sourceOver

        init(_ mode: BlendMode) { (name, self.mode) = (mode.rawValue, mode) }

        init(_ composite: CompositeOperator) {
            (name, self.composite) = (composite.rawValue, composite)
        }
    }

    /// Checks that a peer's results are ours within a number of steps of the format, and what floats
    /// are inexact by.
    private func compare(
        _ peer: String, _ noise: CompositedNoise, _ operations: [Operation], within limit: Double
    ) throws {
        let python = try #require(PeerTool.python)
        let output = try withTemporaryFolder { folder in
            let files = try [noise.source, noise.backdrop].map { image in
                let file = folder.appending(path: UUID().uuidString)
                try Data(image.packedBytes).write(to: file)
                return file.path
            }
            let depth = noise.source.format == .rgba8 ? "8" : "16"
            let arguments =
                [peer, depth, "\(CompositedNoise.size.width)"] + files + operations.map(\.name)
            return try PeerTool.run(python, script: "compositing.py", arguments)
        }
        let bytes = try #require(output)
        let count = CompositedNoise.size.area * 4
        try #require(bytes.count == count * operations.count * 4)
        for (index, operation) in operations.enumerated() {
            let expected = (index * count..<(index + 1) * count).map { sample in
                let float = bytes[sample * 4..<(sample + 1) * 4]
                let bits = float.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                return Double(Float(bitPattern: bits))
            }
            let difference = try noise.difference(
                from: expected, operation.mode, operation.composite)
            #expect(difference < limit + 0.01, "\(peer) \(operation.name)")
        }
    }

    @Test(
        "equals libvips in 8 and 16 bits",
        arguments: [(PixelFormat.rgba8, 1.0), (.rgba16, 2.0)])
    func libvips(_ format: PixelFormat, limit: Double) throws {
        // libvips lacks the modes that are not separable.
        let modes = BlendMode.allCases.filter {
            ![.normal, .hue, .saturation, .color, .luminosity].contains($0)
        }
        try compare(
            "vips", CompositedNoise(format, isOpaque: true), modes.map { Operation($0) },
            within: limit)
        // With these two, libvips does not multiply one image by the alpha of the other.
        let operators = CompositeOperator.allCases.filter {
            ![.sourceAtop, .destinationAtop].contains($0)
        }
        try compare(
            "vips", CompositedNoise(format), operators.map { Operation($0) }, within: limit)
    }

    @Test("equals Pillow where Pillow has the operation")
    func pillow() throws {
        let modes: [BlendMode] = [
            .multiply, .screen, .overlay, .darken, .lighten, .hardLight, .difference,
        ]
        try compare(
            "pillow", CompositedNoise(.rgba8, isOpaque: true),
            modes.map { Operation($0) } + [Operation(.lighter)], within: 1)
    }

    @Test(
        "equals Chromium's canvas, also in the modes that are not separable",
        .enabled(if: PeerTool.chromium != nil, "Chromium is not installed"))
    func canvas() throws {
        let noise = CompositedNoise(.rgba8, isOpaque: true)
        let side = CompositedNoise.size.width
        let operations = BlendMode.allCases.map { ($0, 1.0) } + BlendMode.allCases.map { ($0, 0.4) }
        let list = operations.map { mode, opacity in
            "['\(mode == .normal ? "source-over" : mode.rawValue)', \(opacity)]"
        }
        let size = PixelSize(width: side, height: side * operations.count)
        let page = """
            <canvas width="\(size.width)" height="\(size.height)" style="display: block"></canvas>
            <script>
            document.body.dataset.state = "loading";
            async function image(name) {
                const image = new Image();
                image.src = name;
                await image.decode();
                return image;
            }
            async function draw() {
                const source = await image("source.png"), backdrop = await image("backdrop.png");
                const context = document.querySelector("canvas").getContext("2d");
                [\(list.joined(separator: ", "))].forEach(([mode, opacity], index) => {
                    context.globalCompositeOperation = "source-over";
                    context.globalAlpha = 1;
                    context.drawImage(backdrop, 0, index * \(side));
                    context.globalCompositeOperation = mode;
                    context.globalAlpha = opacity;
                    context.drawImage(source, 0, index * \(side));
                });
                document.body.dataset.state = "complete";
            }
            draw();
            </script>
            """
        let images = [
            "source": noise.source.converted(to: .rgb8),
            "backdrop": noise.backdrop.converted(to: .rgb8),
        ]
        let result = try #require(try PeerTool.screenshot(page, images, size))
        for (index, (mode, opacity)) in operations.enumerated() {
            let part = result.cut(PixelRect(x: 0, y: index * side, width: side, height: side))
            let expected = CompositedNoise.samples(part.converted(to: .rgba8))
            let difference = try noise.difference(
                from: expected, mode, .sourceOver, opacity: opacity)
            #expect(difference < 1.01, "\(mode) \(opacity)")
        }
    }
}
