// SPDX-License-Identifier: Apache-2.0

internal import CCalotype
internal import EncodedImages
internal import Pixels

/// Reads a structure whose first member is its size.
///
/// - Returns: `nil` if the pointer is null.
func structure<Structure>(
    _ pointer: UnsafePointer<Structure>?, _ size: KeyPath<Structure, Int>, _ name: String
) throws(Failure) -> Structure? {
    guard let pointer = unsafe pointer else { return nil }
    // The size is read first: the caller may have allocated fewer bytes than the structure has.
    let given = unsafe UnsafeRawPointer(pointer).loadUnaligned(as: Int.self)
    try checkSize(given, MemoryLayout<Structure>.size, name)
    return unsafe pointer.pointee
}

/// Checks the value of `struct_size`.
func checkSize(_ given: Int, _ needed: Int, _ name: String) throws(Failure) {
    guard given >= needed else {
        throw .argument("\(name)->struct_size is \(given); \(needed) bytes are required")
    }
}

/// Reads a string.
func string(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> String {
    guard let pointer = unsafe pointer else { throw .argument("\(name) is null") }
    return unsafe String(cString: pointer)
}

extension DecodeLimits {
    init(_ pointer: UnsafePointer<calotype_limits>?) throws(Failure) {
        self.init()
        guard let limits = unsafe try structure(pointer, \.struct_size, "limits") else { return }
        for (name, value) in [
            (Name.pixelCount, limits.pixel_count), (.side, limits.side),
            (.byteCount, limits.file_byte_count), (.memoryByteCount, limits.memory_byte_count),
        ] where value > 0 {
            self[name] = Int(clamping: value)
        }
    }
}

extension PixelFormat {
    /// The format of a code; `nil` for that of the file.
    init?(_ code: calotype_format) throws(Failure) {
        let formats: [PixelFormat] = [
            .gray8, .rgb8, .rgba8, .gray16, .rgb16, .rgba16, .bgra8, .yCbCr420,
        ]
        if code == calotype_format(CALOTYPE_FORMAT_OF_FILE) { return nil }
        guard code > 0, code <= formats.count else {
            throw .argument("invalid format \(code): 0 to \(formats.count) is required")
        }
        self = formats[Int(code) - 1]
    }

    /// The code of the format, if it has one.
    var code: calotype_format? {
        let code: Int
        switch self {
        case .gray8: code = Int(CALOTYPE_GRAY8)
        case .rgb8: code = Int(CALOTYPE_RGB8)
        case .rgba8: code = Int(CALOTYPE_RGBA8)
        case .gray16: code = Int(CALOTYPE_GRAY16)
        case .rgb16: code = Int(CALOTYPE_RGB16)
        case .rgba16: code = Int(CALOTYPE_RGBA16)
        case .bgra8: code = Int(CALOTYPE_BGRA8)
        case .yCbCr420: code = Int(CALOTYPE_YCBCR420)
        case .alpha8, .rgbaHalf, .rgb565, .rgb555: return nil
        }
        return calotype_format(code)
    }
}

extension DecodeOptions {
    /// Reads options; the default options if the pointer is null.
    ///
    /// - Parameters:
    ///   - pointer: The options.
    ///   - page: Set to the index of the page.
    /// - Throws: `Failure/argument(_:)` for an invalid member.
    init(
        _ pointer: UnsafePointer<calotype_decode_options>?, page: inout Int
    ) throws(Failure) {
        self.init()
        page = 0
        guard let options = unsafe try structure(pointer, \.struct_size, "options") else { return }
        page = Int(options.page)
        if options.width > 0 || options.height > 0 {
            box = PixelSize(
                width: options.width > 0 ? Int(options.width) : .max,
                height: options.height > 0 ? Int(options.height) : .max)
        }
        mode = try ResizeMode(options.resize)
        if mode != .fit, box.map({ $0.largestSide == .max }) ?? false {
            throw .argument("resize \(options.resize) needs a width and a height")
        }
        if options.region_width > 0, options.region_height > 0 {
            region = PixelRect(
                x: Int(options.region_x), y: Int(options.region_y),
                width: Int(options.region_width), height: Int(options.region_height))
        }
        pixelFormat = try PixelFormat(options.format)
        try apply(flags: options.flags)
    }

    private mutating func apply(flags: UInt32) throws(Failure) {
        func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
        let known =
            CALOTYPE_ALLOW_ENLARGING | CALOTYPE_IGNORE_ORIENTATION | CALOTYPE_FAST
            | CALOTYPE_KEEP_COLORS | CALOTYPE_REJECT_TRUNCATED | CALOTYPE_USE_EMBEDDED_THUMBNAIL
            | CALOTYPE_HALF_CHROMA
        guard flags & ~UInt32(known) == 0 else {
            throw .argument("invalid flags \(flags): this version has those up to \(known)")
        }
        allowsEnlarging = has(Int(CALOTYPE_ALLOW_ENLARGING))
        appliesOrientation = !has(Int(CALOTYPE_IGNORE_ORIENTATION))
        if has(Int(CALOTYPE_FAST)) { quality = .fast }
        convertsToSRGB = !has(Int(CALOTYPE_KEEP_COLORS))
        acceptsTruncated = !has(Int(CALOTYPE_REJECT_TRUNCATED))
        if has(Int(CALOTYPE_USE_EMBEDDED_THUMBNAIL)) { embeddedThumbnail = .ifLargeEnough }
        acceptsYCbCr = has(Int(CALOTYPE_HALF_CHROMA)) && pixelFormat?.isDeep != true
        // Planes need no conversion.
        if pixelFormat == .yCbCr420 { acceptsYCbCr = false }
    }
}

extension ResizeMode {
    fileprivate init(_ code: calotype_resize) throws(Failure) {
        switch Int(code) {
        case Int(CALOTYPE_FIT): self = .fit
        case Int(CALOTYPE_FILL): self = .fill
        case Int(CALOTYPE_EXACT): self = .stretch
        default: throw .argument("invalid resize \(code): 0 to 2 is required")
        }
    }
}

extension EncodeOptions {
    init(_ pointer: UnsafePointer<calotype_encode_options>?) throws(Failure) {
        self.init()
        guard let options = unsafe try structure(pointer, \.struct_size, "options") else { return }
        guard (0...100).contains(options.quality) else {
            throw .argument("invalid quality \(options.quality): 1 to 100 is required")
        }
        if options.quality > 0 { quality = Int(options.quality) }
        isLossless = options.lossless != 0
    }
}
