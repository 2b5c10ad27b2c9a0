// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

extension ImageHeader.ColorModel: WireValue {}
extension DecodeLimits.Name: WireValue {}
extension DecodeOptions.EmbeddedThumbnail: WireValue {}
extension DecodeOptions.Quality: WireValue {}
extension EncodeOptions.ChromaSubsampling: WireValue {}
extension StoredFrame.Disposal: WireValue {}
extension StoredFrame.Blending: WireValue {}

extension ImageHeader.Fact: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(name)
        writer.write(value)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(try reader.value(), try reader.value())
    }
}

extension ImageHeader: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(storedSize)
        writer.write(colorModel)
        writer.write(bitsPerComponent)
        writer.write(orientation)
        writer.write(hasAlpha)
        writer.write(colorProfile)
        writer.write(frameCount)
        writer.write(loopCount)
        writer.write(pageCount)
        writer.write(isScalable)
        writer.write(endsEarly)
        writer.write(thumbnail?.lowerBound)
        writer.write(thumbnail?.upperBound)
        writer.write(jpegTileSize)
        writer.write(hasGainMap)
        writer.write(facts)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(
            storedSize: try PixelSize(imageFrom: &reader), colorModel: try reader.value(),
            bitsPerComponent: try reader.number())
        orientation = try reader.value()
        hasAlpha = try reader.value()
        colorProfile = try reader.value()
        frameCount = try reader.number()
        loopCount = try reader.number()
        pageCount = try reader.number()
        isScalable = try reader.value()
        endsEarly = try reader.value()
        let start = try reader.optional(Int.self)
        let end = try reader.optional(Int.self)
        if let start, let end {
            guard 0 <= start, start <= end else {
                throw WireError(reason: "the range of a thumbnail is invalid")
            }
            thumbnail = start..<end
        }
        jpegTileSize = try reader.optional()
        hasGainMap = try reader.value()
        facts = try reader.array()
        guard (0...255).contains(bitsPerComponent), frameCount > 0, loopCount >= 0,
            pageCount > 0
        else { throw WireError(reason: "a header contains an invalid count") }
    }
}

extension StoredTile: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(rect)
        writer.write(levelSize)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(try reader.value(), ofLevel: try PixelSize(imageFrom: &reader))
    }
}

extension DecodeLimits: WireValue {
    func write(to writer: inout WireWriter) {
        for name in Name.allCases { writer.write(self[name]) }
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        for name in Name.allCases { self[name] = try reader.number() }
    }
}

extension DecodeOptions: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(region)
        writer.write(box)
        writer.write(mode)
        writer.write(anchor.x)
        writer.write(anchor.y)
        writer.write(allowsEnlarging)
        writer.write(appliesOrientation)
        writer.write(embeddedThumbnail)
        writer.write(kernel)
        writer.write(quality)
        writer.write(convertsToSRGB)
        writer.write(acceptsTruncated)
        writer.write(acceptsYCbCr)
        writer.write(sharesDecode)
        writer.write(keepsDepth)
        writer.write(pixelFormat)
        writer.write(dithering)
        writer.write(verifiesChecksums)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        region = try reader.optional()
        box = try reader.optional()
        mode = try reader.value()
        anchor = CropAnchor(x: try reader.value(), y: try reader.value())
        allowsEnlarging = try reader.value()
        appliesOrientation = try reader.value()
        embeddedThumbnail = try reader.value()
        kernel = try reader.value()
        quality = try reader.value()
        convertsToSRGB = try reader.value()
        acceptsTruncated = try reader.value()
        acceptsYCbCr = try reader.value()
        sharesDecode = try reader.value()
        keepsDepth = try reader.value()
        pixelFormat = try reader.optional()
        dithering = try reader.value()
        verifiesChecksums = try reader.value()
    }
}

/// Without the metadata, which is sent separately.
extension EncodeOptions: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(quality)
        writer.write(targetSSIM)
        writer.write(isProgressive)
        writer.write(chromaSubsampling)
        writer.write(isLossless)
        writer.write(compressionLevel)
        writer.write(isPyramid)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        quality = try reader.number()
        targetSSIM = try reader.optional()
        isProgressive = try reader.value()
        chromaSubsampling = try reader.value()
        isLossless = try reader.value()
        compressionLevel = try reader.number()
        isPyramid = try reader.value()
    }
}

extension DecodeReport: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(decoder)
        writer.write(shrinkFactors)
        writer.write(problem)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(decoder: try reader.value(), shrinkFactors: try reader.array())
        problem = try reader.optional()
    }
}

extension Duration: WireValue {
    func write(to writer: inout WireWriter) {
        let (seconds, attoseconds) = components
        writer.write(Int(seconds))
        writer.write(Int(attoseconds))
    }

    /// Reads the duration of a frame; the sum over all frames does not overflow.
    init(from reader: inout WireReader) throws(WireError) {
        let (seconds, attoseconds) = (try reader.number(), try reader.number())
        guard 0...Int(Int32.max) ~= seconds, 0..<1_000_000_000_000_000_000 ~= attoseconds else {
            throw WireError(reason: "the duration of a frame is out of range")
        }
        self.init(
            secondsComponent: Int64(seconds), attosecondsComponent: Int64(attoseconds))
    }
}

extension MetadataBlocks: WireValue {
    func write(to writer: inout WireWriter) {
        for block in [exif, xmp, iptc] {
            writer.write(block == nil ? 0 : 1)
            if let block { writer.write(block) }
        }
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        exif = try reader.value(Bool.self) ? try reader.block() : nil
        xmp = try reader.value(Bool.self) ? try reader.block() : nil
        iptc = try reader.value(Bool.self) ? try reader.block() : nil
    }
}

extension ImagePreview.Completeness: WireValue {
    func write(to writer: inout WireWriter) {
        switch self {
        case .thumbnail:
            writer.write(0)
        case .pass(let number):
            writer.write(1)
            writer.write(number)
        case .rows(let count):
            writer.write(2)
            writer.write(count)
        }
    }

    init(from reader: inout WireReader) throws(WireError) {
        switch try reader.number() {
        case 0: self = .thumbnail
        case 1: self = .pass(try reader.number())
        case 2: self = .rows(try reader.number())
        default: throw WireError(reason: "a preview is of an unknown kind")
        }
    }
}

/// The errors of decoders; errors that only the host can have are sent as texts.
extension CodecError: WireValue {
    func write(to writer: inout WireWriter) {
        switch self {
        case .unknownFormat:
            writer.write(0)
        case .malformed(let reason, let offset):
            writer.write(1)
            writer.write(reason)
            writer.write(offset)
        case .truncated(let byteCount):
            writer.write(2)
            writer.write(byteCount)
        case .unsupported(let feature):
            writer.write(3)
            writer.write(feature)
        case .notBuiltIn(let format, let trait):
            writer.write(4)
            writer.write(format)
            writer.write(trait)
        case .limitExceeded(let name, let needed, let allowed):
            writer.write(5)
            writer.write(name)
            writer.write(needed)
            writer.write(allowed)
        case .cancelled:
            writer.write(6)
        case .file(let reason):
            writer.write(7)
            writer.write(reason)
        case .fileChanged:
            writer.write(9)
        case .empty:
            writer.write(10)
        case .library, .decoderStopped, .sandboxUnavailable:
            writer.write(8)
            if case .library(let message) = self {
                writer.write(message)
            } else {
                writer.write(description)
            }
        }
    }

    init(from reader: inout WireReader) throws(WireError) {
        switch try reader.number() {
        case 0: self = .unknownFormat
        case 1: self = .malformed(reason: try reader.value(), offset: try reader.number())
        case 2: self = .truncated(byteCount: try reader.number())
        case 3: self = .unsupported(feature: try reader.value())
        case 4: self = .notBuiltIn(format: try reader.value(), trait: try reader.value())
        case 5:
            self = .limitExceeded(
                try reader.value(), needed: try reader.number(), allowed: try reader.number())
        case 6: self = .cancelled
        case 7: self = .file(reason: try reader.value())
        case 8: self = .library(message: try reader.value())
        case 9: self = .fileChanged
        case 10: self = .empty
        default: throw WireError(reason: "an error is of an unknown kind")
        }
    }
}
