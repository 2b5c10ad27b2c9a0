// SPDX-License-Identifier: Apache-2.0

internal import AssetCatalogs
internal import EncodedImages
internal import ImageCommands
internal import Pixels

/// A drawing from which icons of several sizes are made.
struct IconDrawing {
    let path: String
    /// The bytes, if the drawing is SVG.
    let vectors: [UInt8]?
    private let source: ImageSource

    init(_ path: String, _ codecs: CodecSet) throws(FileFailure) {
        self.path = path
        do throws(CodecError) {
            let bytes = try EncodedBytes(reading: path)
            do throws(CodecError) {
                source = try ImageSource(bytes, codecs: codecs)
            } catch {
                guard error.missingVectors(bytes) == "SVG" else { throw error }
                throw .notBuiltIn(format: "svg", trait: "SVG")
            }
            vectors = source.format.name == "svg" ? bytes.copy(of: 0..<bytes.count) : nil
        } catch {
            throw FileFailure(path, error)
        }
    }

    /// Draws an icon with a transparent margin.
    ///
    /// - Parameters:
    ///   - side: the width and height of the icon in pixels.
    ///   - content: the side of the square in the middle into which the drawing fits.
    /// - Returns: the icon, in premultiplied RGBA.
    /// - Throws: ``FileFailure``.
    func image(side: Int, content: Int) throws(FileFailure) -> PixelBuffer {
        let image = try decoded(PixelSize(width: content, height: content))
        var icon = MutablePixelBuffer(
            size: PixelSize(width: side, height: side), format: .rgba8)
        icon.copy(
            image, to: ((side - image.size.width) / 2, (side - image.size.height) / 2))
        return icon.finish()
    }

    private func decoded(_ box: PixelSize) throws(FileFailure) -> PixelBuffer {
        var decoding = DecodeOptions()
        decoding.box = box
        decoding.allowsEnlarging = true
        do throws(CodecError) {
            return try source.image(decoding).converted(to: .rgba8)
        } catch {
            throw FileFailure(path, error)
        }
    }
}

/// The icons of a web site, and the files that refer to them.
struct IconSet {
    struct File {
        let name: String
        let bytes: [UInt8]
    }

    /// The part of the width that every mask keeps, as a circle.
    ///
    /// - SeeAlso: W3C, *Web Application Manifest*, “Icon masks and safe zone”.
    static let safeZone = 0.8

    let drawing: IconDrawing
    let small: IconDrawing?
    let background: SRGBColor
    let name: String

    /// Makes all files.
    func files(_ codecs: CodecSet) throws(FileFailure) -> [File] {
        var files: [File] = []
        var entries: [(side: Int, png: [UInt8])] = []
        for side in [16, 32, 48] {
            let image = try (small ?? drawing).image(side: side, content: side)
            entries.append((side, try png(image, codecs)))
        }
        files.append(File(name: "favicon.ico", bytes: Self.icoFile(entries)))
        if let vectors = drawing.vectors { files.append(File(name: "icon.svg", bytes: vectors)) }
        let touch = try drawing.image(side: 180, content: 180).over(background)
        files.append(File(name: "apple-touch-icon.png", bytes: try png(touch, codecs)))
        for side in [192, 512] {
            let image = try drawing.image(side: side, content: side)
            files.append(File(name: "icon-\(side).png", bytes: try png(image, codecs)))
        }
        let maskable = try maskableImage(side: 512).over(background)
        files.append(File(name: "icon-maskable-512.png", bytes: try png(maskable, codecs)))
        files.append(
            File(name: "manifest.webmanifest", bytes: Array((manifest.text() + "\n").utf8)))
        return files
    }

    /// Draws the icon so that every visible pixel lies in the safe zone.
    private func maskableImage(side: Int) throws(FileFailure) -> PixelBuffer {
        let full = try drawing.image(side: side, content: side)
        let radius = max(full.visibleRadius, 1)
        let allowed = Double(side) * Self.safeZone / 2
        // A pixel less, because resampling moves edges by a fraction of one.
        let content = min(Double(side), Double(side) * (allowed - 1) / radius)
        return try drawing.image(side: side, content: max(1, Int(content)))
    }

    private func png(_ image: PixelBuffer, _ codecs: CodecSet) throws(FileFailure) -> [UInt8] {
        var encoding = EncodeOptions()
        encoding.compressionLevel = 9
        do throws(CodecError) {
            return try ImageDestination(format: "png", codecs: codecs, options: encoding)
                .encode(image)
        } catch {
            throw FileFailure(drawing.path, error)
        }
    }

    /// An icon file whose entries are PNG, as since Windows Vista.
    private static func icoFile(_ entries: [(side: Int, png: [UInt8])]) -> [UInt8] {
        var file: [UInt8] = []
        file.appendLittleEndian16(0, 1, entries.count)
        var offset = 6 + entries.count * 16
        for entry in entries {
            file += [
                UInt8(truncatingIfNeeded: entry.side), UInt8(truncatingIfNeeded: entry.side), 0, 0,
            ]
            file.appendLittleEndian16(1, 32)
            file.appendLittleEndian32(entry.png.count, offset)
            offset += entry.png.count
        }
        return entries.reduce(file) { $0 + $1.png }
    }

    private var manifest: JSON {
        func icon(_ source: String, _ sizes: String, _ type: String, _ purpose: String) -> JSON {
            .object([
                .init("src", .string(source)), .init("sizes", .string(sizes)),
                .init("type", .string(type)), .init("purpose", .string(purpose)),
            ])
        }
        let vectors =
            drawing.vectors == nil ? [] : [icon("icon.svg", "any", "image/svg+xml", "any")]
        return .object([
            .init("name", .string(name)), .init("start_url", .string(".")),
            .init("display", .string("standalone")),
            .init("background_color", .string(background.hexadecimal)),
            .init("theme_color", .string(background.hexadecimal)),
            .init(
                "icons",
                .array(
                    vectors + [
                        icon("icon-192.png", "192x192", "image/png", "any"),
                        icon("icon-512.png", "512x512", "image/png", "any"),
                        icon("icon-maskable-512.png", "512x512", "image/png", "maskable"),
                    ])),
        ])
    }

    /// The elements that refer to the files, for the head of a page.
    static func elements(_ names: [String]) -> String {
        var lines = [#"<link rel="icon" href="/favicon.ico" sizes="32x32">"#]
        if names.contains("icon.svg") {
            lines.append(#"<link rel="icon" href="/icon.svg" type="image/svg+xml">"#)
        }
        lines.append(#"<link rel="apple-touch-icon" href="/apple-touch-icon.png">"#)
        lines.append(#"<link rel="manifest" href="/manifest.webmanifest">"#)
        return lines.joined(separator: "\n")
    }
}

extension PixelBuffer {
    /// The largest distance of a corner of a visible pixel from the centre; of premultiplied RGBA.
    fileprivate var visibleRadius: Double {
        let center = (x: Double(size.width) / 2, y: Double(size.height) / 2)
        var largest = 0.0
        for y in 0..<size.height {
            let row = row(y)
            let dy = max(abs(Double(y) - center.y), abs(Double(y + 1) - center.y))
            for x in 0..<size.width where row[x * 4 + 3] > 0 {
                let dx = max(abs(Double(x) - center.x), abs(Double(x + 1) - center.x))
                largest = max(largest, dx * dx + dy * dy)
            }
        }
        return largest.squareRoot()
    }

    /// The image over an opaque colour, as RGB; of premultiplied RGBA.
    fileprivate func over(_ color: SRGBColor) -> PixelBuffer {
        let channels = [color.red, color.green, color.blue].map { SRGBColor.byte($0) }
        var result = MutablePixelBuffer(size: size, format: .rgb8)
        for y in 0..<size.height {
            let row = row(y)
            result.withMutableRow(y) { target in
                for x in 0..<size.width {
                    for channel in 0..<3 {
                        let below = PremultipliedAlpha.multiplied(
                            channels[channel], by: 255 - row[x * 4 + 3])
                        target[x * 3 + channel] = UInt8(
                            min(255, Int(row[x * 4 + channel]) + Int(below)))
                    }
                }
            }
        }
        return result.finish()
    }
}

extension SRGBColor {
    /// The colour as `#rrggbb`.
    fileprivate var hexadecimal: String {
        "#"
            + [red, green, blue].map { component in
                let digits = String(SRGBColor.byte(component), radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
    }
}
