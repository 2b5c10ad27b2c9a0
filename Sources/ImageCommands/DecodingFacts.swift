// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The report of a test decode for `info --explain`, as text and JSON.
struct DecodingFacts {
    private let size: PixelSize
    private let report: DecodeReport
    private let milliseconds: Double

    /// Decodes the image once to fit a box.
    init(_ source: ImageSource, _ box: PixelSize) throws(CodecError) {
        var options = DecodeOptions(box: box)
        options.acceptsYCbCr = true
        let clock = ContinuousClock()
        let start = clock.now
        let decoded = try source.decodedImage(options)
        milliseconds = (clock.now - start) / .milliseconds(1)
        size = decoded.image.size
        report = decoded.report
    }

    var text: String {
        let tenths = Int((milliseconds * 10).rounded())
        let warning = report.problem.map { "; warning: \($0)" } ?? ""
        return "at \(size) by \(report.decoder)\(shrinkText), in \(tenths / 10).\(tenths % 10) ms"
            + warning
    }

    var json: JSON {
        .object([
            .init("width", .integer(size.width)),
            .init("height", .integer(size.height)),
            .init("decoder", .string(report.decoder)),
            .init("shrinkFactors", .array(report.shrinkFactors.map { .integer($0) })),
            .init("milliseconds", .integer(Int(milliseconds.rounded(.up)))),
            .init("warnings", .array(report.problem.map { [.string("\($0)")] } ?? [])),
        ])
    }

    private var shrinkText: String {
        guard let first = report.shrinkFactors.first else { return "" }
        if report.shrinkFactors.allSatisfy({ $0 == first }) {
            return first == 1 ? ", not shrunk" : ", shrunk to 1/\(first)"
        }
        return ", planes shrunk to "
            + report.shrinkFactors.map { "1/\($0)" }.joined(separator: ", ")
    }
}
