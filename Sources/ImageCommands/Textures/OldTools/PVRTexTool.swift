// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageCodecs
internal import Pixels
internal import Textures

/// Encodes an image with the options of PVRTexToolCL.
///
/// - SeeAlso: Imagination Technologies, *PVRTexTool User Manual*, “PVRTexTool Command Line Options”.
struct PVRTexTool {
    static let help = """
        Encodes an image with the options of PVRTexToolCL.

        USAGE: PVRTexToolCL -i IMAGE -f FORMAT[,UBN[,sRGB|lRGB]] [-o FILE.pvr|FILE.ktx2] [OPTIONS]
               PVRTexToolCL -i TEXTURE -d IMAGE

          -i IMAGE              the image or texture to read
          -o FILE               the texture to write (default: that of the image, as .pvr)
          -d [IMAGE]            write the decoded texture as well; without -f only that
          -noout                write no texture
          -f FORMAT             PVRTC1_2, PVRTC1_4 (each also with _RGB), PVRTCI_2BPP_RGB, \
        PVRTCI_2BPP_RGBA,
                                PVRTCI_4BPP_RGB, PVRTCI_4BPP_RGBA, ETC1, ETC2_RGB, ETC2_RGBA, EAC_R11,
                                EAC_RG11, BC1, BC3, BC4, BC5, BC7, DXT1 or DXT5; the colour space is
                                lRGB unless stated, which changes the header only
          -q QUALITY            pvrtcfastest, pvrtcfast, pvrtcnormal, pvrtchigh, pvrtcbest, etcfast or
                                etcslow; etcfastperceptual and etcslowperceptual weight channels equally
          -m [COUNT]            add mip levels, at most COUNT in all
          -mfilter, -rfilter    linear or cubic: both select the same filter
          -r WIDTH,HEIGHT       resize the image
          -square, -pot [+|-]   resize it to a square, to powers of two, larger (+) or smaller (-)
          -rcanvas, -squarecanvas, -potcanvas
                                the same, repeating its edges or cutting it at the right and bottom
          -flip x|y             exchange left and right, or top and bottom
          -rotate z,+|-         rotate by 90 degrees, clockwise (+) or counter-clockwise (-)
          -p                    multiply colours by alpha
          -l                    accepted: colours of transparent pixels are always 0
          -legacypvr            write PVR version 2
          -shh                  show no progress
          -ics sRGB             accepted: images are decoded to sRGB

        Other options, such as -cube and -dither, are refused.
        """

    /// How a side or a shape is changed.
    private struct Sizing {
        var size: PixelSize?
        var squareIsLarger: Bool?
        var powerIsLarger: Bool?

        func applied(to original: PixelSize) -> PixelSize {
            var result = size ?? original
            if let squareIsLarger {
                let side =
                    squareIsLarger
                    ? max(result.width, result.height) : min(result.width, result.height)
                result = PixelSize(width: side, height: side)
            }
            guard let powerIsLarger else { return result }
            func power(_ side: Int) -> Int {
                let smaller = 1 << (Int.bitWidth - 1 - side.leadingZeroBitCount)
                return smaller == side || !powerIsLarger ? smaller : smaller * 2
            }
            return PixelSize(width: power(result.width), height: power(result.height))
        }
    }

    private var input = ""
    private var output: String?
    /// The decoded image to write; empty for a name that follows from that of the input.
    private var decoded: String?
    private var writesTexture = true
    private var making: TextureMaking?
    private var dropsAlpha = false
    private var isLinear = true
    private var quality = PVRTCEncoder.Quality.normal
    private var levelLimit = 1
    private var resizing = Sizing()
    private var canvas = Sizing()
    private var turns: [Orientation] = []
    private var premultiplies = false
    private var isLegacy = false
    private var isQuiet = false

    init(_ arguments: inout OldToolArguments) throws(OldToolError) {
        while let option = arguments.next() {
            try read(option, &arguments)
        }
        guard !input.isEmpty else { throw OldToolError(message: "-i is required") }
        guard making != nil || decoded != nil else {
            throw OldToolError(message: "-f is required, or -d to decode a texture")
        }
        if isLegacy, let making, making.format != .pvrtc {
            throw OldToolError(message: "-legacypvr is supported for PVRTC only")
        }
        let name = output.map { splitExtension($0).fileExtension ?? "pvr" } ?? "pvr"
        guard ["pvr", "ktx2"].contains(name), !isLegacy || name == "pvr" else {
            throw OldToolError(
                message: "-o \(output ?? "") is not supported: use a file .pvr or .ktx2")
        }
    }

    private mutating func read(
        _ option: String, _ arguments: inout OldToolArguments
    ) throws(OldToolError) {
        switch option {
        case "-i":
            input = try arguments.value(of: option)
            guard !input.hasSuffix(","), arguments.optionalValue() == nil else {
                throw OldToolError(message: "-i with several files is not supported")
            }
        case "-o": output = try arguments.value(of: option)
        case "-d": decoded = arguments.optionalValue() ?? ""
        case "-noout": writesTexture = false
        case "-f": try readFormat(try arguments.value(of: option))
        case "-q": quality = try Self.quality(try arguments.value(of: option))
        case "-m": levelLimit = try Self.count(arguments.optionalValue())
        case "-mfilter", "-rfilter":
            let filter = try arguments.value(of: option)
            guard ["linear", "cubic"].contains(filter) else {
                throw OldToolError(message: "\(option) \(filter) is not supported")
            }
        case "-p": premultiplies = true
        case "-legacypvr", "-pvrlegacy": isLegacy = true
        case "-shh": isQuiet = true
        case "-l": break
        case "-ics":
            let space = try arguments.value(of: option)
            guard space.lowercased() == "srgb" else {
                throw OldToolError(message: "-ics \(space) is not supported")
            }
        default: try readGeometry(option, &arguments)
        }
    }

    private mutating func readGeometry(
        _ option: String, _ arguments: inout OldToolArguments
    ) throws(OldToolError) {
        switch option {
        case "-r": resizing.size = try Self.size(option, try arguments.value(of: option))
        case "-rcanvas": canvas.size = try Self.size(option, try arguments.value(of: option))
        case "-square": resizing.squareIsLarger = try Self.isLarger(option, &arguments)
        case "-squarecanvas": canvas.squareIsLarger = try Self.isLarger(option, &arguments)
        case "-pot": resizing.powerIsLarger = try Self.isLarger(option, &arguments)
        case "-potcanvas": canvas.powerIsLarger = try Self.isLarger(option, &arguments)
        case "-flip", "-rotate":
            let value = try arguments.value(of: option)
            let turns: [String: Orientation] =
                option == "-flip"
                ? ["x": .mirroredHorizontally, "y": .mirroredVertically]
                : ["z": .rotated90, "z,+": .rotated90, "z,-": .rotated270]
            guard let turn = turns[value] else {
                throw OldToolError(message: "\(option) \(value) is not supported")
            }
            self.turns.append(turn)
        default: throw OldToolError(message: "\(option) is not supported")
        }
    }

    // MARK: - Values

    private mutating func readFormat(_ value: String) throws(OldToolError) {
        let parts = value.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.lowercased() }
        guard let (format, bits, hasAlpha) = Self.formats[parts[0]] else {
            throw OldToolError(message: "-f \(value) is not supported: unknown format")
        }
        if parts.count > 1, !["ubn", "ub"].contains(parts[1]) {
            throw OldToolError(message: "-f \(value) is not supported: use UBN")
        }
        guard parts.count < 3 || ["srgb", "lrgb"].contains(parts[2]), parts.count < 4 else {
            throw OldToolError(message: "-f \(value) is not supported: use sRGB or lRGB")
        }
        making = TextureMaking(format: format, bitsPerPixel: bits)
        dropsAlpha = !hasAlpha
        isLinear = parts.count < 3 || parts[2] == "lrgb"
    }

    private static let formats:
        [String: (format: TextureEncode.Format, bits: Int, hasAlpha: Bool)] = [
            "pvrtc1_2": (.pvrtc, 2, true), "pvrtc1_2_rgb": (.pvrtc, 2, false),
            "pvrtc1_4": (.pvrtc, 4, true), "pvrtc1_4_rgb": (.pvrtc, 4, false),
            "pvrtci_2bpp_rgba": (.pvrtc, 2, true), "pvrtci_2bpp_rgb": (.pvrtc, 2, false),
            "pvrtci_4bpp_rgba": (.pvrtc, 4, true), "pvrtci_4bpp_rgb": (.pvrtc, 4, false),
            "etc1": (.etc1, 4, false), "etc2_rgb": (.etc2, 4, false),
            "etc2_rgba": (.etc2a, 4, true), "eac_r11": (.eacR, 4, false),
            "eac_rg11": (.eacRG, 4, false), "bc1": (.bc1, 4, false), "dxt1": (.bc1, 4, false),
            "bc3": (.bc3, 4, true), "dxt5": (.bc3, 4, true), "bc4": (.bc4, 4, false),
            "bc5": (.bc5, 4, false), "bc7": (.bc7, 4, true),
        ]

    private static func quality(_ value: String) throws(OldToolError) -> PVRTCEncoder.Quality {
        let name = value.hasPrefix("pvrtc") ? String(value.dropFirst(5)) : value
        switch name {
        case "veryfast": return .fastest
        case "etcfast", "etcfastperceptual": return .fast
        case "etcslow", "etcslowperceptual": return .high
        default:
            guard name != value, let quality = PVRTCEncoder.Quality(rawValue: name) else {
                throw OldToolError(message: "-q \(value) is not supported")
            }
            return quality
        }
    }

    private static func count(_ value: String?) throws(OldToolError) -> Int {
        guard let value else { return .max }
        guard let count = Int(value), count > 0 else {
            throw OldToolError(message: "invalid -m: \(value)")
        }
        return count
    }

    private static func size(_ option: String, _ value: String) throws(OldToolError) -> PixelSize {
        let sides = value.split(separator: ",").map { Int($0) ?? 0 }
        guard sides.count == 2, sides.allSatisfy({ (1...8192).contains($0) }) else {
            throw OldToolError(
                message: "invalid \(option): \(value); use a width and a height up to 8192")
        }
        return PixelSize(width: sides[0], height: sides[1])
    }

    private static func isLarger(
        _ option: String, _ arguments: inout OldToolArguments
    ) throws(OldToolError) -> Bool {
        let sign = arguments.optionalValue() ?? "+"
        guard ["+", "-"].contains(sign) else {
            throw OldToolError(message: "invalid \(option): \(sign); use + or -")
        }
        return sign == "+"
    }

    // MARK: - Running

    func run() throws {
        try withOldToolImage(input) { image in
            guard var making else {
                try writeImage(try shaped(image), to: decodedPath)
                return
            }
            making.quality = quality
            making.alpha = premultiplies ? .premultiplied : .straight
            making.levelLimit = levelLimit
            making.showsProgress = !isQuiet
            var image = try shaped(image)
            try TextureMaking.checkMemory(for: image.size, input)
            if dropsAlpha {
                image = (premultiplies ? image : image.withStraightAlpha()).converted(to: .rgb8)
            }
            var texture = try making.texture(of: image, input)
            if decoded != nil { try writeImage(try texture.decoded(input), to: decodedPath) }
            guard writesTexture else { return }
            texture.isLinear = isLinear
            let isKTX = output.map { splitExtension($0).fileExtension == "ktx2" } ?? false
            try writeTexture(
                isKTX ? texture.ktx2File() : isLegacy ? texture.pvr2File() : texture.pvr3File(),
                to: output ?? path("pvr"))
        }
    }

    private var decodedPath: String {
        guard let decoded, !decoded.isEmpty else { return splitExtension(input).name + ".Out.png" }
        return decoded
    }

    /// The path of the input with another extension, never that of the input itself.
    private func path(_ fileExtension: String) -> String {
        let stem = splitExtension(input).name
        let path = "\(stem).\(fileExtension)"
        return path == input ? "\(stem).Out.\(fileExtension)" : path
    }

    private func shaped(_ image: PixelBuffer) throws(FileFailure) -> PixelBuffer {
        var image = image
        let size = resizing.applied(to: image.size)
        try TextureMaking.checkMemory(for: size, input)
        if size != image.size { image = image.resized(SampleRegion(image.size), to: size) }
        let canvasSize = canvas.applied(to: size)
        try TextureMaking.checkMemory(for: canvasSize, input)
        if canvasSize != image.size {
            let kept = PixelSize(
                width: min(size.width, canvasSize.width),
                height: min(size.height, canvasSize.height))
            image = image.cut(PixelRect(x: 0, y: 0, width: kept.width, height: kept.height))
                .repeatingEdges(to: canvasSize)
        }
        for turn in turns { image = image.turned(turn) }
        return image
    }
}

extension Texture {
    /// Decodes level 0, as programs that read the file do.
    func decoded(_ path: String) throws(FileFailure) -> PixelBuffer {
        do throws(CodecError) {
            return try ImageSource(EncodedBytes(pvr3File()), codecs: builtInCodecs).image()
        } catch {
            throw FileFailure(path, error)
        }
    }
}
