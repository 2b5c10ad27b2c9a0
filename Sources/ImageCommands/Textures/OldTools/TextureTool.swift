// SPDX-License-Identifier: Apache-2.0

internal import Pixels
internal import Textures

/// Encodes an image with the options of Apple's texturetool.
///
/// - SeeAlso: Apple, *OpenGL ES Programming Guide*, “Using texturetool to Compress Textures”.
struct TextureTool {
    static let help = """
        Encodes an image with the options of texturetool.

        USAGE: texturetool [-hl]
               texturetool -c REFERENCE IMAGE
               texturetool [-ms] -e PVRTC [-p PREVIEW] -o OUTPUT [-f Raw|PVR] IMAGE

          -h          show this help
          -l          list the encoder, its options and the formats
          -c          print the differences between two images
          -m          add mip levels
          -s          print the differences between the image and the texture
          -e PVRTC    the encoder, which is required
          -p PREVIEW  write the decoded texture, as PNG unless the extension selects another format
          -o OUTPUT   the texture to write
          -f FORMAT   Raw, the blocks alone (default), or PVR, of version 2
        """

    private static let list = """
        Encoders:

        PVRTC
         --channel-weighting-linear
         --channel-weighting-perceptual (weights channels equally)
         --bits-per-pixel-2
         --bits-per-pixel-4
         --alpha-is-independent
         --alpha-is-opacity
         --punchthrough-unused
         --punchthrough-allowed

        Formats:

        Raw
        PVR
        """

    private var image = ""
    private var reference: String?
    private var output: String?
    private var preview: String?
    private var listsEncoders = false
    private var hasEncoder = false
    private var addsLevels = false
    private var printsDifferences = false
    private var isRaw = true
    private var bitsPerPixel = 4

    init(_ arguments: inout OldToolArguments) throws(OldToolError) {
        while let argument = arguments.next() {
            guard argument.hasPrefix("-") else {
                guard image.isEmpty else {
                    throw OldToolError(message: "several images: \(image) and \(argument)")
                }
                image = argument
                continue
            }
            try read(argument, &arguments)
        }
        if listsEncoders { return }
        guard !image.isEmpty else { throw OldToolError(message: "an image is required") }
        guard reference == nil else { return }
        guard hasEncoder else {
            throw OldToolError(message: "-e PVRTC is required: nothing else is written")
        }
        guard output != nil || preview != nil || printsDifferences else {
            throw OldToolError(message: "-o is required")
        }
    }

    private mutating func read(
        _ option: String, _ arguments: inout OldToolArguments
    ) throws(OldToolError) {
        switch option {
        case "-l": listsEncoders = true
        case "-c": reference = try arguments.value(of: option)
        case "-o": output = try arguments.value(of: option)
        case "-p": preview = try arguments.value(of: option)
        case "-m": addsLevels = true
        case "-s": printsDifferences = true
        case "-ms", "-sm": (addsLevels, printsDifferences) = (true, true)
        case "-e":
            let name = try arguments.value(of: option)
            guard name.uppercased() == "PVRTC" else {
                throw OldToolError(message: "-e \(name) is not supported: use PVRTC")
            }
            hasEncoder = true
        case "-f":
            let name = try arguments.value(of: option)
            guard ["raw", "pvr"].contains(name.lowercased()) else {
                throw OldToolError(message: "-f \(name) is not supported: use Raw or PVR")
            }
            isRaw = name.lowercased() == "raw"
        case "--bits-per-pixel-2": bitsPerPixel = 2
        case "--bits-per-pixel-4": bitsPerPixel = 4
        case "--channel-weighting-linear", "--channel-weighting-perceptual",
            "--alpha-is-independent", "--alpha-is-opacity", "--punchthrough-unused",
            "--punchthrough-allowed":
            break
        default: throw OldToolError(message: "\(option) is not supported")
        }
    }

    func run() throws {
        if listsEncoders {
            print(Self.list)
            return
        }
        try withOldToolImage(image) { pixels in
            guard let reference else { return try encode(pixels) }
            try withOldToolImage(reference) { other in
                guard other.size == pixels.size else {
                    throw FileFailure(image, "its size is \(pixels.size), not \(other.size)")
                }
                print(TextureCompare.text(other, pixels))
            }
        }
    }

    private func encode(_ pixels: PixelBuffer) throws(FileFailure) {
        let side = pixels.size.width
        guard side == pixels.size.height, side >= 8, side & (side - 1) == 0 else {
            throw FileFailure(
                image, "\(pixels.size) is not a square whose side is a power of two, at least 8")
        }
        try TextureMaking.checkMemory(for: pixels.size, image)
        var making = TextureMaking(format: .pvrtc, bitsPerPixel: bitsPerPixel)
        making.alpha = .straight
        if addsLevels { making.levelLimit = .max }
        let texture = try making.texture(of: pixels, image)
        if let output {
            let file = isRaw ? Array(texture.levels.joined()) : texture.pvr2File()
            try writeTexture(file, to: output)
        }
        guard preview != nil || printsDifferences else { return }
        let decoded = try texture.decoded(image)
        if let preview { try writeImage(decoded, to: preview) }
        if printsDifferences {
            let form: PixelFormat = pixels.format.hasAlpha ? .rgba8 : .rgb8
            print(TextureCompare.text(pixels, decoded.converted(to: form)))
        }
    }
}
