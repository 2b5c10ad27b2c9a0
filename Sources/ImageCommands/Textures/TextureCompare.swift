// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import Pixels

/// The `texture compare` command.
struct TextureCompare: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Measures how much two images of the same size differ.",
        discussion: """
            Prints the PSNR of red, green and blue in decibels (and that of alpha, if both images \
            have it), and the SSIM of luma. Colours with alpha are compared premultiplied. \
            --difference writes an image of the absolute differences, amplified eight times.
            """)

    @Argument(help: "An image or texture file.", completion: .file())
    var first: String

    @Argument(help: "Another one.", completion: .file())
    var second: String

    @Option(help: "The image file to write the differences to.", completion: .file())
    var difference: String?

    @Flag(help: "Print a JSON object with the keys psnr, alphaPSNR and ssim.")
    var json = false

    @OptionGroup var sandboxing: SandboxArguments

    func run() throws {
        try sandboxing.withCodecs { codecs in try compare(codecs) }
    }

    private func compare(_ codecs: CodecSet) throws(FileFailure) {
        let one = try decodedTexels(first, codecs)
        let other = try decodedTexels(second, codecs)
        guard one.size == other.size else {
            throw FileFailure(second, "its size is \(other.size), not \(one.size)")
        }
        if json {
            let (color, alpha) = Self.errors(one, other)
            let ssim = one.structuralSimilarity(to: other)
            let members: [JSON.Member] = [
                .init("psnr", .number(Self.psnr(color))),
                .init("alphaPSNR", alpha.map { .number(Self.psnr($0)) } ?? .null),
                .init("ssim", .number(ssim)),
            ]
            print(JSON.object(members).text())
        } else {
            print(Self.text(one, other))
        }
        guard let difference else { return }
        try writeImage(Self.differences(one, other), to: difference)
    }

    /// Returns the PSNR of colours and alpha, and the SSIM, of images of the same size.
    static func text(_ one: PixelBuffer, _ other: PixelBuffer) -> String {
        let (color, alpha) = errors(one, other)
        var lines = ["PSNR   \(decibels(color))"]
        if let alpha { lines.append("alpha  \(decibels(alpha))") }
        lines.append("SSIM   \(rounded(one.structuralSimilarity(to: other), 10_000))")
        return lines.joined(separator: "\n")
    }

    /// Returns the mean squared errors of colours, and of alpha if both images have it.
    private static func errors(
        _ one: PixelBuffer, _ other: PixelBuffer
    ) -> (color: Double, alpha: Double?) {
        let (step, otherStep) = (one.format.bytesPerPixel, other.format.bytesPerPixel)
        var (color, alpha) = (0, 0)
        for y in 0..<one.size.height {
            let (row, otherRow) = (one.row(y), other.row(y))
            for x in 0..<one.size.width {
                for channel in 0..<min(step, otherStep) {
                    let difference =
                        Int(row[x * step + channel]) - Int(otherRow[x * otherStep + channel])
                    if channel == 3 {
                        alpha += difference * difference
                    } else {
                        color += difference * difference
                    }
                }
            }
        }
        let area = Double(one.size.area)
        let hasAlpha = step == 4 && otherStep == 4
        return (Double(color) / area / 3, hasAlpha ? Double(alpha) / area : nil)
    }

    private static func psnr(_ error: Double) -> Double { 10 * log10(255 * 255 / error) }

    private static func decibels(_ error: Double) -> String {
        error == 0 ? "identical" : "\(rounded(psnr(error), 100)) dB"
    }

    private static func rounded(_ value: Double, _ scale: Double) -> Double {
        (value * scale).rounded() / scale
    }

    private static func differences(_ one: PixelBuffer, _ other: PixelBuffer) -> PixelBuffer {
        var result = MutablePixelBuffer(size: one.size, format: .rgb8)
        let (step, otherStep) = (one.format.bytesPerPixel, other.format.bytesPerPixel)
        for y in 0..<one.size.height {
            let (row, otherRow) = (one.row(y), other.row(y))
            result.withMutableRow(y) { target in
                for x in 0..<one.size.width {
                    for channel in 0..<3 {
                        let difference =
                            Int(row[x * step + channel]) - Int(otherRow[x * otherStep + channel])
                        target[x * 3 + channel] = UInt8(min(255, abs(difference) * 8))
                    }
                }
            }
        }
        return result.finish()
    }
}
