// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import Pixels
public import Textures

extension PVRTCEncoder.Quality: ExpressibleByArgument {}

/// The `texture encode` command.
struct TextureEncode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode",
        abstract: "Encodes an image as a texture in a PVR or KTX 2 file.",
        discussion: """
            PVRTC has 4 or 2 bits per pixel. Its sides are powers of two, and Apple's graphics \
            processors require that they are equal. --fit says what happens to other images.

            The other formats take images of any size. Those of colour are etc1, etc2 and bc1; of \
            colour and alpha etc2a, bc3 and bc7; of red eac-r and bc4; of red and green eac-rg and \
            bc5. BC1, BC3, BC4 and BC5 have one effort. Without alpha, a transparent image is placed \
            on black.

            FIT
              stretch   resampled to the next larger square
              pad       placed at the top left of that square; its edges are repeated
              crop      the middle, cut to the next smaller square

            EXAMPLES
              calotype texture encode icon.png icon.pvr
              calotype texture encode photo.jpg photo.pvr --fit pad --quality best
              calotype texture encode sprite.png sprite.pvr --alpha straight --mipmaps
            """)

    /// What happens to images whose sides are not equal powers of two.
    enum Fit: String, CaseIterable, ExpressibleByArgument {
        case stretch
        case pad
        case crop
    }

    /// How alpha relates to the colours.
    enum Alpha: String, CaseIterable, ExpressibleByArgument {
        case premultiplied
        case straight
    }

    /// How the texels are stored.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case pvrtc
        case bc1
        case bc3
        case bc4
        case bc5
        case bc7
        case etc1
        case etc2
        case etc2a
        case eacR = "eac-r"
        case eacRG = "eac-rg"

        var hasAlpha: Bool { [.pvrtc, .bc3, .bc7, .etc2a].contains(self) }

        /// The format of blocks that are independent of each other; `nil` for PVRTC.
        var blocks: TextureFormat? {
            switch self {
            case .pvrtc: nil
            case .bc1: .bc1
            case .bc3: .bc3
            case .bc4: .bc4(isSigned: false)
            case .bc5: .bc5(isSigned: false)
            case .bc7: .bc7
            case .etc1: .etc1
            case .etc2: .etc2
            case .etc2a: .etc2Alpha
            case .eacR: .eacR(isSigned: false)
            case .eacRG: .eacRG(isSigned: false)
            }
        }
    }

    @Argument(help: "The image file.", completion: .file())
    var input: String

    @Argument(
        help: "The file to write: KTX 2 if its extension is ktx2, otherwise PVR.",
        completion: .file())
    var output: String

    @Option(help: "The effort: fastest, fast, normal, high or best.")
    var quality = PVRTCEncoder.Quality.normal

    @Option(
        help: """
            How the texels are stored: pvrtc, bc1, bc3, bc4, bc5, bc7, etc1, etc2, etc2a, eac-r or eac-rg.
            """)
    var format = Format.pvrtc

    @Option(help: "The bits per pixel of PVRTC: 4 or 2.")
    var bitsPerPixel = 4

    @Option(help: "How an image is made square: stretch, pad or crop (default: an error).")
    var fit: Fit?

    @Option(help: "How alpha is stored: premultiplied or straight.")
    var alpha = Alpha.premultiplied

    @Flag(help: "Add mip levels down to 1x1.")
    var mipmaps = false

    @Flag(
        name: .customLong("legacy-pvr"),
        help: "Write version 2 of the file format, which cannot state how alpha is stored.")
    var isLegacy = false

    func validate() throws {
        if format != .pvrtc && bitsPerPixel != 4 {
            throw ValidationError("--bits-per-pixel is for PVRTC, not for \(format.rawValue)")
        }
        if bitsPerPixel != 4 && bitsPerPixel != 2 {
            throw ValidationError("invalid --bits-per-pixel: \(bitsPerPixel); use 4 or 2")
        }
        if isLegacy && format != .pvrtc {
            throw ValidationError("--legacy-pvr is for PVRTC, not for \(format.rawValue)")
        }
    }

    @OptionGroup var sandboxing: SandboxArguments

    func run() throws {
        try sandboxing.withCodecs { codecs in
            let decoded = try decodedTexels(input, codecs) {
                size, options throws(FileFailure) in
                let square = try fittingSize(for: size)
                guard fit == .stretch else { return }
                options.box = square
                options.mode = .stretch
                options.allowsEnlarging = true
            }
            let image = fitted(decoded, to: try fittingSize(for: decoded.size))
            var making = TextureMaking(format: format, bitsPerPixel: bitsPerPixel)
            making.quality = quality
            making.alpha = alpha
            if mipmaps { making.levelLimit = .max }
            let texture = try making.texture(of: image, input)
            let isKTX = splitExtension(output).fileExtension == "ktx2"
            try writeTexture(
                isKTX ? texture.ktx2File() : isLegacy ? texture.pvr2File() : texture.pvr3File(),
                to: output)
        }
    }

    /// Returns the size of the texture, which is that of the image unless the format or `--fit` says
    /// otherwise.
    private func fittingSize(for size: PixelSize) throws(FileFailure) -> PixelSize {
        format == .pvrtc || fit != nil ? try square(for: size) : size
    }

    /// Returns the size of the texture; checks the memory that encoding takes.
    private func square(for size: PixelSize) throws(FileFailure) -> PixelSize {
        let longer = max(size.width, size.height)
        let larger = max(8, 1 << (Int.bitWidth - (longer - 1).leadingZeroBitCount))
        let smaller = 1 << (Int.bitWidth - 1 - min(size.width, size.height).leadingZeroBitCount)
        let isFitting = size.width == size.height && longer == larger
        guard isFitting || fit != nil else {
            throw FileFailure(
                input,
                "\(size) is not a square whose side is a power of two, at least 8; "
                    + "use --fit stretch, pad or crop")
        }
        let side = fit == .crop ? smaller : larger
        guard side >= 8 else {
            throw FileFailure(input, "\(size) is too small for --fit crop: 8x8 is the least")
        }
        let square = PixelSize(width: side, height: side)
        try TextureMaking.checkMemory(for: square, input)
        return square
    }

    /// Returns the middle of a larger image, or a smaller one with its edges repeated.
    private func fitted(_ image: PixelBuffer, to square: PixelSize) -> PixelBuffer {
        if image.size == square { return image }
        guard fit == .crop else { return image.repeatingEdges(to: square) }
        return image.cut(
            PixelRect(
                x: (image.size.width - square.width) / 2,
                y: (image.size.height - square.height) / 2, width: square.width,
                height: square.height))
    }
}

/// Decodes an image to 8-bit RGB, or to premultiplied RGBA if it can be transparent.
///
/// - Parameters:
///   - path: the file.
///   - codecs: the codecs.
///   - prepare: checks the size of the image, and changes the options, before it is decoded.
/// - Returns: the image.
/// - Throws: ``FileFailure``.
func decodedTexels(
    _ path: String, _ codecs: CodecSet,
    _ prepare: (PixelSize, inout DecodeOptions) throws(FileFailure) -> Void = { _, _ in }
) throws(FileFailure) -> PixelBuffer {
    let source: ImageSource
    do throws(CodecError) {
        source = try ImageSource(try EncodedBytes(mapping: path), codecs: codecs)
    } catch {
        throw FileFailure(path, error)
    }
    var options = DecodeOptions()
    options.pixelFormat = source.header.hasAlpha ? .rgba8 : .rgb8
    options.acceptsTruncated = false
    try prepare(source.pixelSize, &options)
    do throws(CodecError) {
        return try source.decodedImage(options).image
    } catch {
        throw FileFailure(path, error)
    }
}

/// Writes a file, whole or not at all.
func writeTexture(_ file: [UInt8], to path: String) throws(FileFailure) {
    do throws(CodecError) {
        try withExtendedLifetime(Interruption()) { () throws(CodecError) in
            try ImageDestination.write(file, to: path)
        }
    } catch {
        throw FileFailure(path, error)
    }
}

extension PixelBuffer {
    /// Returns a copy whose colours are divided by alpha; opaque images are returned as they are.
    func withStraightAlpha() -> PixelBuffer {
        guard format == .rgba8 else { return self }
        var result = MutablePixelBuffer(self)
        for y in 0..<size.height { result.withMutableRow(y) { PremultipliedAlpha.divide(&$0) } }
        return result.finish()
    }

    /// Returns a larger image with this one at the top left, whose last column and row are repeated.
    func repeatingEdges(to size: PixelSize) -> PixelBuffer {
        var result = MutablePixelBuffer(size: size, format: format, colorProfile: colorProfile)
        let byteCount = format.bytesPerPixel
        for y in 0..<size.height {
            let source = row(min(y, self.size.height - 1))
            let last = (self.size.width - 1) * byteCount
            result.withMutableRow(y) { row in
                for index in row.indices {
                    row[index] = source[index < source.count ? index : last + index % byteCount]
                }
            }
        }
        return result.finish()
    }
}
