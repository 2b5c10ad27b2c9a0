// SPDX-License-Identifier: Apache-2.0

internal import Drawing
internal import EncodedImages
internal import Foundation
internal import ImageCodecs
internal import Pixels

/// Measures cards: `cards-bench TEMPLATE PHOTO AVATAR LOGO TITLE RESULT [KIND]`.
///
/// Each run decodes the images, draws the template and encodes it as JPEG. The program prints the CPU time
/// of the fastest of several runs in milliseconds, and writes the result. `KIND` is `card`, `text` (a
/// title only, as PNG), `standard` or `extended` (the range, without encoding), `decode` (the images at the
/// sizes of the card, without drawing) or `encode` (the drawn card).
@main enum CardsBench {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 7 else {
            print("usage: cards-bench TEMPLATE PHOTO AVATAR LOGO TITLE RESULT [KIND]")
            exit(64)
        }
        let kind = arguments.count > 7 ? arguments[7] : "card"
        let template = try Template(
            parsing: try String(contentsOfFile: arguments[1], encoding: .utf8))
        var values = [
            "photo": arguments[2], "avatar": arguments[3], "logo": arguments[4],
            "title": arguments[5], "author": "Ada Lovelace", "label": "Engineering",
        ]
        let fonts = try FontCollection()
        var options = EncodeOptions()
        options.quality = 85
        let destination = try ImageDestination(
            format: kind == "text" ? "png" : "jpeg", codecs: builtInCodecs, options: options)
        var best = Double.infinity
        var file: [UInt8] = []
        let drawn =
            kind == "encode"
            ? try card(template, values, .automatic, fonts, destination) : nil
        let requests = kind == "decode" ? try template.imageRequests(values) : []
        for run in 0..<9 {
            // A title of its own, so that no layout is reused.
            values["title"] = "\(arguments[5]) \(run)"
            let start = clock()
            switch kind {
            case "card":
                file = try destination.encode(
                    try card(template, values, .automatic, fonts, destination))
            case "decode": for request in requests { _ = try decoded(request, destination) }
            case "encode": if let drawn { file = try destination.encode(drawn) }
            case "text": file = try destination.encode(try title(values["title"] ?? "", fonts))
            default:
                let range: ImageRendererFormat.Range = kind == "extended" ? .extended : .standard
                _ = try card(template, values, range, fonts, destination)
            }
            best = min(best, Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1000)
        }
        print(best)
        try Data(file).write(to: URL(filePath: arguments[6]))
    }

    private static func card(
        _ template: Template, _ values: [String: String], _ range: ImageRendererFormat.Range,
        _ fonts: FontCollection, _ destination: ImageDestination
    ) throws(DrawingError) -> PixelBuffer {
        try template.image(values, format: .init(range: range), fonts: fonts) {
            request throws(DrawingError) in try decoded(request, destination)
        }
    }

    private static func decoded(
        _ request: Template.ImageRequest, _ destination: ImageDestination
    ) throws(DrawingError) -> PixelBuffer {
        do throws(CodecError) {
            var options = DecodeOptions()
            options.box = request.box
            options.mode = request.mode
            options.anchor = request.anchor
            options.acceptsYCbCr = destination.prefersYCbCr
            return try ImageSource(
                EncodedBytes(mapping: request.source), codecs: builtInCodecs
            ).decodedImage(options).image
        } catch {
            throw .invalid(reason: "\(request.source): \(error)")
        }
    }

    private static func title(
        _ text: String, _ fonts: FontCollection
    ) throws(DrawingError) -> PixelBuffer {
        let size = PixelSize(width: 1200, height: 630)
        return try ImageRenderer(size: size, fonts: fonts).image { context throws(DrawingError) in
            context.fill(.color(.white))
            let layout = TextLayout(
                text, font: .named("Sans Bold", size: 72), width: 1040, lines: 3, height: 260,
                fits: .shrinking(to: 40))
            try context.draw(layout, at: Point(80, 220))
        }
    }
}
