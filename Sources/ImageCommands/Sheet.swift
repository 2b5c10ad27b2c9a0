// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import DecoderSandbox
internal import Drawing
internal import EncodedImages
internal import Pixels

/// The `sheet` command.
package struct Sheet: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sheet", _superCommandName: "calotype",
        abstract: "Draws a contact sheet of image files.",
        discussion: """
            Each image fits into a square, with captions below. An image that cannot be read is \
            replaced by its error, and the command fails after the sheet was written.

            EXAMPLES
              calotype sheet *.jpg --columns 6 --caption name,date -o sheet.jpg
              calotype sheet *.png --cell 160 --background '#202124' --color '#fff' -o icons.png
            """)

    enum Caption: String, CaseIterable, Sendable {
        case name, date, size
    }

    @Argument(help: "The image files.", completion: .file())
    package var files: [PathGroup]

    @Option(help: "The number of columns, from 1 to 100.")
    var columns = 6

    @Option(help: "The side of the square of an image in pixels, from 16 to 2048.")
    var cell = 240

    @Option(help: "The distance between images in pixels, from 0 to 512.")
    var gap = 16

    @Option(
        help: "The lines below an image, separated by commas: name, date (taken) and size.",
        transform: captions(parsing:))
    var caption: [Caption] = []

    @Option(help: "The colour between images, such as #202124.", transform: parseColor)
    var background = SRGBColor.white

    @Option(help: "The colour of captions, such as #fff.", transform: parseColor)
    var color = SRGBColor(red: 0.2, green: 0.2, blue: 0.2)

    @Option(
        name: .customLong("font"),
        help: ArgumentHelp(
            "A font file; the fonts of the system are then not used.", valueName: "file"))
    var fonts: [String] = []

    @Option(
        name: .shortAndLong,
        help: "The file to write; its extension selects the format.", completion: .file())
    var output: String

    @OptionGroup var losing: QualityArguments

    @OptionGroup var sandboxing: SandboxArguments

    package init() {}

    package func validate() throws {
        for (name, value, range) in [
            ("columns", columns, 1...100), ("cell", cell, 16...2048), ("gap", gap, 0...512),
        ] where !range.contains(value) {
            throw ValidationError(
                "invalid --\(name): \(value); use \(range.lowerBound) to \(range.upperBound)")
        }
        _ = try drawnDestination(output, losing)
    }

    package func run() throws {
        try sandboxing.withCodecs { codecs in
            let cells = files.paths.map { SheetCell($0, side: cell, caption, codecs) }
            let image = try draw(cells)
            try write(image, to: output, try drawnDestination(output, losing))
            let failures = cells.compactMap(\.failure)
            for failure in failures { report(failure) }
            if !failures.isEmpty { throw ExitCode(1) }
        }
    }

    private func draw(_ cells: [SheetCell]) throws(FileFailure) -> PixelBuffer {
        let textSize = max(10, min(Double(cell) / 16, 24))
        let lineHeight = (textSize * 1.4).rounded(.up)
        let lineCount = max(caption.count, cells.contains { $0.failure != nil } ? 1 : 0)
        let textHeight = lineCount == 0 ? 0 : Int(lineHeight) * lineCount + 6
        let columnCount = min(columns, max(cells.count, 1))
        let rowCount = (cells.count + columnCount - 1) / columnCount
        let size = PixelSize(
            width: gap + columnCount * (cell + gap),
            height: gap + rowCount * (cell + textHeight + gap))
        do throws(DrawingError) {
            let fonts =
                lineCount == 0 ? nil : try FontCollection(files: fonts.isEmpty ? nil : fonts)
            return try ImageRenderer(size: size, fonts: fonts).image {
                context throws(DrawingError) in
                context.fill(.color(background))
                for (index, item) in cells.enumerated() {
                    let x = Double(gap + index % columnCount * (cell + gap))
                    let y = Double(gap + index / columnCount * (cell + textHeight + gap))
                    if let image = item.image {
                        // Whole pixels, so that the image is not resampled again.
                        context.draw(
                            image, SampleRegion(image.size),
                            in: SampleRegion(
                                x: x + Double((cell - image.size.width) / 2),
                                y: y + Double((cell - image.size.height) / 2),
                                width: Double(image.size.width), height: Double(image.size.height)))
                    }
                    for (line, text) in item.lines.enumerated() {
                        let layout = TextLayout(
                            text, font: .named("Sans", size: textSize), width: Double(cell),
                            lines: 1, height: lineHeight, alignment: .center)
                        let top = y + Double(cell) + 6 + Double(line) * lineHeight
                        try context.draw(layout, at: Point(x, top), .color(color))
                    }
                }
            }
        } catch {
            throw FileFailure(output, error)
        }
    }

    private static func captions(parsing text: String) throws -> [Caption] {
        try text.split(separator: ",").map { name in
            guard let caption = Caption(rawValue: String(name)) else {
                throw ValidationError("unknown caption: \(name); use name, date or size")
            }
            return caption
        }
    }
}

/// An image of a sheet with its captions, or the reason why it is missing.
private struct SheetCell {
    private(set) var image: PixelBuffer?
    private(set) var lines: [String] = []
    private(set) var failure: FileFailure?

    init(_ path: String, side: Int, _ captions: [Sheet.Caption], _ codecs: CodecSet) {
        do throws(CodecError) {
            let source = try ImageSource(EncodedBytes(mapping: path), codecs: codecs)
            var options = DecodeOptions()
            options.box = PixelSize(width: side, height: side)
            image = try source.decodedImage(options).image
            for caption in captions {
                switch caption {
                case .name: lines.append(splitFolder(path).file)
                case .size: lines.append("\(source.pixelSize)")
                case .date: if let date = Self.date(source) { lines.append(date) }
                }
            }
        } catch {
            failure = FileFailure(path, error)
            lines = ["\(splitFolder(path).file): \(error)"]
        }
    }

    private static func date(_ source: ImageSource) -> String? {
        guard let fields = try? source.metadataFields() else { return nil }
        let date = fields.exif?.fields.taken?.description ?? fields.xmp?.fields.dateCreated
        return date.map { String($0.prefix(16).map { $0 == "T" ? " " : $0 }) }
    }
}
