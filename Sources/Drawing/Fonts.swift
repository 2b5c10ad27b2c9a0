// SPDX-License-Identifier: Apache-2.0

#if Drawing
internal import CDrawing
#endif
public import Pixels
internal import Synchronization

/// The fonts of texts.
///
/// A lock: Pango's objects belong to one thread at a time. Threads can draw with one collection or with
/// several; texts are laid out and their glyphs drawn by one thread of the process at a time.
public final class FontCollection: Sendable {
    #if Drawing
    private let engine: Mutex<FontEngine>
    /// Held while cairo accesses fonts, of any collection.
    ///
    /// cairo 1.16 evicts glyphs of other fonts from the cache of the process. Two threads that do so hold
    /// the lock of one font and wait for that of another, forever.
    fileprivate static let cairo = Mutex<Void>(())
    #endif

    /// Opens fonts.
    ///
    /// - Parameter files: the paths of font files; `nil` for the fonts of the system.
    /// - Throws: ``DrawingError`` if a file contains no font, or the libraries are missing.
    public init(files: [String]? = nil) throws(DrawingError) {
        #if Drawing
        engine = Mutex(try FontEngine(files ?? []))
        #else
        throw .unavailable(reason: "built without the trait Drawing")
        #endif
    }

    /// Opens the usual fonts of the system, ten at most: sans-serif, serif and monospace, one with
    /// Chinese characters and one with emoji.
    ///
    /// cairo keeps them open once each has been drawn, so that a process that then gives up its access
    /// to files can continue to draw.
    ///
    /// - Returns: the fonts.
    /// - Throws: ``DrawingError`` if the libraries are missing.
    public static func usual() throws(DrawingError) -> FontCollection {
        try FontCollection(few: ())
    }

    private init(few: Void) throws(DrawingError) {
        #if Drawing
        engine = Mutex(try FontEngine())
        #else
        throw .unavailable(reason: "built without the trait Drawing")
        #endif
    }

    /// Lays a text out.
    ///
    /// - Returns: the text at the size at which it fits.
    func lay(_ layout: TextLayout) throws(DrawingError) -> TextExtents {
        try draw(layout, nil).extents
    }

    /// Draws a text with its top left corner at the origin of a transform.
    ///
    /// - Parameters:
    ///   - layout: the text.
    ///   - target: the transform to pixels, and the pixels that can be changed; `nil` to measure only.
    /// - Returns: the glyphs within these pixels, and the size of all.
    /// - Throws: ``DrawingError`` if cairo or Pango fails.
    func draw(
        _ layout: TextLayout, _ target: (transform: Transform, bounds: PixelRect)?
    ) throws(DrawingError) -> DrawnText {
        #if Drawing
        do {
            return try engine.withLock { engine in
                try Self.cairo.withLock { _ in
                    try engine.fitted(layout) { text, extents throws(DrawingError) in
                        guard let target else { return DrawnText(extents: extents) }
                        return try text.drawn(extents, target.transform, target.bounds)
                    }
                }
            }
        } catch let error as DrawingError {
            throw error
        } catch {
            throw .library(message: "\(error)")
        }
        #else
        throw .unavailable(reason: "built without the trait Drawing")
        #endif
    }
}

/// The size of a text in pixels, relative to the top left corner of its layout.
public struct TextExtents: Hashable, Sendable {
    /// The rectangle of the lines.
    public var box: SampleRegion
    /// The rectangle of the glyphs, which can leave that of the lines.
    public var ink: SampleRegion
    /// The number of lines.
    public var lineCount: Int
    /// The size of the font after shrinking.
    public var fontSize: Double
    /// Whether a part of the text is not drawn.
    public var isShortened: Bool
    /// Whether glyphs have colours of their own.
    public var hasColors: Bool
    /// The number of characters that no font contains; boxes are drawn instead.
    public var missingCount: Int
}

/// A drawn text: glyphs of one colour, and glyphs with their own.
struct DrawnText: Sendable {
    let extents: TextExtents
    var coverage: Coverage?
    /// At the bounds of the coverage.
    var colors: PixelBuffer?
}

#if Drawing
/// The sole owner of a font map and its fonts.
@safe private struct FontEngine: ~Copyable {
    private let raw: OpaquePointer
    /// A text is measured before it is drawn.
    private var last: (layout: TextLayout, scale: Double)?

    init(_ files: [String]) throws(DrawingError) {
        try requireDrawing()
        var failed = 0
        guard let raw = unsafe Self.create(files, &failed) else {
            guard failed < files.count else {
                throw .library(message: "cannot open the fonts of the system")
            }
            throw .invalid(reason: "\(files[failed]): not a font file, or not readable")
        }
        unsafe self.raw = raw
    }

    /// Opens the usual fonts.
    init() throws(DrawingError) {
        try requireDrawing()
        guard let raw = unsafe calotype_fonts_create_few() else {
            throw .library(message: "cannot open the fonts of the system")
        }
        unsafe self.raw = raw
    }

    deinit { FontCollection.cairo.withLock { _ in unsafe calotype_fonts_destroy(raw) } }

    private static func create(_ files: [String], _ failed: inout Int) -> OpaquePointer? {
        // One block of all paths, each with its terminator.
        let texts = files.map { Array($0.utf8CString) }
        var offsets: [Int] = []
        var bytes: [CChar] = []
        for text in texts {
            offsets.append(bytes.count)
            bytes += text
        }
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            let paths: [UnsafePointer<CChar>?] = unsafe offsets.map {
                unsafe bytes.baseAddress?.advanced(by: $0)
            }
            return unsafe paths.withUnsafeBufferPointer { paths in
                unsafe calotype_fonts_create(paths.baseAddress, paths.count, &failed)
            }
        }
    }

    /// Calls `body` with a text at the largest size at which it fits.
    mutating func fitted<Result>(
        _ layout: TextLayout,
        _ body: (borrowing EngineText, TextExtents) throws(DrawingError) -> Result
    ) throws(DrawingError) -> Result {
        let scale = try scale(of: layout)
        let text = try unsafe EngineText(
            raw, layout, scale: scale, isEllipsized: layout.isEllipsized)
        return try body(text, text.extents)
    }

    /// Returns the factor of the size at which a text fits.
    private mutating func scale(of layout: TextLayout) throws(DrawingError) -> Double {
        if let last, last.layout == layout { return last.scale }
        let scale = try searchedScale(layout)
        last = (layout, scale)
        return scale
    }

    /// Searches by bisection in steps of half a pixel.
    private func searchedScale(_ layout: TextLayout) throws(DrawingError) -> Double {
        let largest = layout.font.size
        guard let smallest = layout.smallestSize, smallest < largest,
            try !fits(layout, scale: 1)
        else { return 1 }
        let stepCount = max(1, Int(((largest - smallest) * 2).rounded(.up)))
        var (fitting, tooLarge) = (0, stepCount)
        while tooLarge - fitting > 1 {
            let middle = (fitting + tooLarge) / 2
            let size = smallest + Double(middle) / 2
            let isFitting = try fits(layout, scale: size / largest)
            if isFitting { fitting = middle } else { tooLarge = middle }
        }
        return min(smallest + Double(fitting) / 2, largest) / largest
    }

    private func fits(_ layout: TextLayout, scale: Double) throws(DrawingError) -> Bool {
        let extents = try unsafe EngineText(raw, layout, scale: scale, isEllipsized: false).extents
        if extents.isShortened { return false }
        if let height = layout.height, extents.box.height > height + 0.5 { return false }
        guard let width = layout.width else { return true }
        return extents.box.width <= width + 0.5
    }
}

/// The sole owner of a layout.
///
/// A smaller font is the same font drawn smaller, in a larger box: Pango searches the fonts of each size
/// again, which takes longer than the layout. Glyphs are not hinted, so that the results are equal.
@safe private struct EngineText: ~Copyable {
    private let raw: OpaquePointer
    private let scale: Double
    private let fontSize: Double

    init(
        _ fonts: OpaquePointer, _ layout: TextLayout, scale: Double, isEllipsized: Bool
    ) throws(DrawingError) {
        self.scale = scale
        fontSize = layout.font.size
        let text = Array(layout.drawableText.utf8)
        let raw = unsafe text.withUnsafeBytes { text in
            unsafe layout.font.name.withCString { font in
                unsafe layout.language.withCString { language in
                    var style = unsafe calotype_text_style()
                    unsafe style.text = text.assumingMemoryBound(to: CChar.self).baseAddress
                    unsafe style.byte_count = text.count
                    unsafe style.font = font
                    unsafe style.language = language
                    unsafe style.size = layout.font.size
                    unsafe style.width = layout.width.map { $0 / scale } ?? -1
                    unsafe style.line_limit = Int32(clamping: layout.lineLimit ?? 0)
                    unsafe style.height = layout.height.map { $0 / scale } ?? -1
                    unsafe style.is_ellipsized = isEllipsized
                    unsafe style.alignment = layout.alignment.rawValue
                    unsafe style.line_spacing = layout.lineSpacing ?? 0
                    unsafe style.letter_spacing = layout.letterSpacing
                    return unsafe calotype_text_create(fonts, &style)
                }
            }
        }
        guard let raw = unsafe raw else { throw .library(message: "out of memory") }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_text_destroy(raw) }

    var extents: TextExtents {
        var result = calotype_text_extents()
        unsafe calotype_text_measure(raw, &result)
        func region(_ values: (Double, Double, Double, Double)) -> SampleRegion {
            SampleRegion(
                x: values.0 * scale, y: values.1 * scale, width: values.2 * scale,
                height: values.3 * scale)
        }
        return TextExtents(
            box: region(result.logical), ink: region(result.ink),
            lineCount: Int(result.line_count), fontSize: fontSize * scale,
            isShortened: result.is_shortened, hasColors: result.has_colors,
            missingCount: Int(result.missing_count))
    }

    func drawn(
        _ extents: TextExtents, _ transform: Transform, _ limits: PixelRect
    ) throws(DrawingError) -> DrawnText {
        var result = DrawnText(extents: extents)
        // Antialiasing reaches a pixel further than the outline.
        let bounds = transform.bounds(of: extents.ink.outset(by: 1)).outerPixels
            .intersection(limits)
        guard !bounds.isEmpty else { return result }
        var coverage = Coverage(bounds)
        let area = coverage.area
        var colors = [UInt32](
            repeating: 0, count: extents.hasColors ? coverage.stride * bounds.height : 0)
        let scaled = transform.applied(after: .scale(scale, scale))
        var matrix = [scaled.a, scaled.b, scaled.c, scaled.d, scaled.x, scaled.y]
        let problem = unsafe coverage.withBytes { coverage in
            unsafe colors.withUnsafeMutableBufferPointer { colors in
                unsafe calotype_text_draw(
                    raw, &matrix, area, coverage, extents.hasColors ? colors.baseAddress : nil)
            }
        }
        try unsafe check(problem)
        if extents.hasColors {
            result.colors = PixelBuffer(words: colors, bounds.size, stride: coverage.stride)
        }
        result.coverage = coverage
        return result
    }
}

extension PixelBuffer {
    /// Creates an image from premultiplied 32-bit ARGB words.
    fileprivate init(words: [UInt32], _ size: PixelSize, stride: Int) {
        var result = MutablePixelBuffer(size: size, format: .rgba8)
        for y in 0..<size.height {
            result.withMutableRow(y) { row in
                for x in 0..<size.width {
                    let word = words[y * stride + x]
                    row[x * 4] = UInt8(truncatingIfNeeded: word >> 16)
                    row[x * 4 + 1] = UInt8(truncatingIfNeeded: word >> 8)
                    row[x * 4 + 2] = UInt8(truncatingIfNeeded: word)
                    row[x * 4 + 3] = UInt8(truncatingIfNeeded: word >> 24)
                }
            }
        }
        self = result.finish()
    }
}
#endif
