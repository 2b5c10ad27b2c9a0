// SPDX-License-Identifier: Apache-2.0

#if TIFF
    internal import CTIFF
    internal import EncodedImages
    internal import Pixels

    /// What a directory says of its pixels, checked so far that decoding them can be tried.
    struct TIFFPicture {
        /// What the samples of a pixel mean.
        enum Model: Equatable {
            case gray(isInverted: Bool)
            case rgb
            case palette
            case cmyk
            /// CIE L*a*b*; as ICC profiles count it, a and b have no sign.
            case lab(isICC: Bool)
            /// What libtiff alone can make colours of.
            case converted
        }

        enum SampleFormat { case unsigned, signed, float }

        let directory: TIFFDirectory
        let size: PixelSize
        let compression: Int
        let photometric: Int
        /// As they are stored.
        let bitsPerSample: Int
        private(set) var model = Model.gray(isInverted: false)
        /// As libtiff delivers them.
        private(set) var bits: Int
        private(set) var sampleFormat = SampleFormat.unsigned
        private(set) var sampleCount: Int
        let isPlanar: Bool
        let isTiled: Bool
        /// The size of a tile, or of a strip.
        let blockSize: PixelSize
        /// Which sample is alpha, and whether colours are premultiplied by it.
        private(set) var alpha: (index: Int, isPremultiplied: Bool)?
        /// Red, green and blue, 256 × 2ⁿ each.
        private(set) var colorMap: [UInt16] = []

        init(_ directory: TIFFDirectory, _ bytes: Span<UInt8>) throws(CodecError) {
            self.directory = directory
            let place = directory.offset
            func integer(_ tag: Int) -> Int? { directory.integer(tag, bytes) }
            guard let width = integer(256), let height = integer(257), width > 0, height > 0 else {
                throw .malformed(reason: "a picture without a size", offset: place)
            }
            guard width <= UInt32.max, height <= UInt32.max else {
                throw .malformed(reason: "the size makes no sense", offset: place)
            }
            size = PixelSize(width: width, height: height)
            // What stands elsewhere and counts: depths, places, palette, meanings.
            for tag in [258, 273, 279, 320, 324, 325, 338, 339]
            where directory.entries[tag].map({ $0.count > 0 }) == true {
                if directory.range(tag, bytes) == nil { throw .truncated(byteCount: bytes.count) }
            }
            compression = integer(259) ?? 1
            try unsafe requireLibrary(calotype_tiff_missing())
            guard let number = UInt16(exactly: compression), calotype_tiff_has_compression(number)
            else { throw .unsupported(feature: "TIFF compression \(compression)") }
            let count = integer(277) ?? 1
            guard (1...64).contains(count) else {
                throw .unsupported(feature: "\(count) samples a pixel in TIFF")
            }
            sampleCount = count
            let depths = directory.integers(258, bytes, limit: count)
            bitsPerSample = depths.first ?? 1
            bits = bitsPerSample
            guard depths.allSatisfy({ $0 == depths[0] }), (1...64).contains(bits) else {
                throw .unsupported(feature: "samples of \(depths) bits in TIFF")
            }
            isPlanar = count > 1 && integer(284) == 2
            let isFax = [2, 3, 4, 32771].contains(compression)
            photometric = integer(262) ?? (isFax ? 0 : count >= 3 ? 2 : 1)
            isTiled = directory.entries[322] != nil || directory.entries[324] != nil
            let rows = integer(278) ?? height
            let block =
                isTiled
                ? PixelSize(width: integer(322) ?? 0, height: integer(323) ?? 0)
                : PixelSize(width: width, height: min(rows, height))
            guard block.width > 0, block.height > 0, block.width <= 1 << 24,
                block.height <= UInt32.max
            else { throw .malformed(reason: "strips or tiles without a size", offset: place) }
            blockSize = block
            try setModel(bytes)
            try setSampleFormat(bytes)
            setAlpha(bytes)
            try checkBlocks(bytes)
        }

        private mutating func setModel(_ bytes: Span<UInt8>) throws(CodecError) {
            if (compression == 34676 || compression == 34677), photometric >= 32844 {
                // libtiff makes 8 bits of LogL and LogLuv.
                bits = 8
                sampleCount = photometric == 32844 ? 1 : 3
                model = photometric == 32844 ? .gray(isInverted: false) : .rgb
                return
            }
            switch photometric {
            case _ where compression == 6: model = .converted
            case 0: model = .gray(isInverted: true)
            case 1, 4: model = .gray(isInverted: false)
            case 2 where sampleCount >= 3: model = .rgb
            case 3 where bits <= 8:
                model = .palette
                colorMap = directory.integers(320, bytes, limit: 3 << bits).map {
                    UInt16(truncatingIfNeeded: $0)
                }
                guard colorMap.count == 3 << bits else {
                    throw .malformed(reason: "the palette is too short", offset: directory.offset)
                }
            case 5 where sampleCount >= 4 && (directory.integer(332, bytes) ?? 1) == 1:
                model = .cmyk
            case 6 where compression == 7 && sampleCount == 3 && bits == 8 && !isPlanar:
                model = .rgb
            case 6 where sampleCount == 3 && bits == 8: model = .converted
            case 8 where sampleCount == 3 && (bits == 8 || bits == 16): model = .lab(isICC: false)
            case 9 where sampleCount == 3 && (bits == 8 || bits == 16): model = .lab(isICC: true)
            default:
                throw .unsupported(
                    feature:
                        "TIFF of colours \(photometric) with \(sampleCount) samples of \(bits) bits"
                )
            }
        }

        private mutating func setSampleFormat(_ bytes: Span<UInt8>) throws(CodecError) {
            guard bits == bitsPerSample || bits != 8 else { return }
            switch directory.integer(339, bytes) ?? 1 {
            case 2:
                if case .lab = model { break }
                sampleFormat = .signed
            case 3: sampleFormat = .float
            case 5, 6: throw .unsupported(feature: "complex numbers in TIFF")
            default: break
            }
            if sampleFormat == .float, ![16, 24, 32, 64].contains(bits) {
                throw .unsupported(feature: "floating-point numbers of \(bits) bits in TIFF")
            }
            if sampleFormat == .signed, ![8, 16, 24, 32, 64].contains(bits) {
                throw .unsupported(feature: "numbers of \(bits) bits with a sign in TIFF")
            }
            if directory.integer(317, bytes) == 2, ![8, 16, 32, 64].contains(bits),
                [5, 8, 32946, 34925, 50000].contains(compression)
            {
                throw .unsupported(feature: "differences of samples of \(bits) bits in TIFF")
            }
        }

        private mutating func setAlpha(_ bytes: Span<UInt8>) {
            let colorCount: Int
            switch model {
            case .gray, .palette: colorCount = 1
            case .rgb: colorCount = 3
            default: return
            }
            guard sampleCount > colorCount else { return }
            let extra = directory.integers(338, bytes, limit: sampleCount)
            if directory.entries[338] == nil {
                // Four samples of which nothing is said are colours and alpha.
                if model == .rgb, sampleCount == 4 { alpha = (3, false) }
                return
            }
            guard let index = extra.firstIndex(where: { $0 == 1 || $0 == 2 }) else { return }
            let place = sampleCount - extra.count + index
            if place >= colorCount, place < sampleCount { alpha = (place, extra[index] == 1) }
        }

        private func checkBlocks(_ bytes: Span<UInt8>) throws(CodecError) {
            // Old JPEG has its own ways to say where the pixels are.
            if compression == 6 { return }
            let counts = blockCounts
            let (perPlane, overflow) = counts.x.multipliedReportingOverflow(by: counts.y)
            let needed = overflow ? .max : perPlane
            let known = max(directory.entries[offsetsTag]?.count ?? 0, 0)
            guard needed <= known / (isPlanar ? sampleCount : 1) else {
                throw .malformed(reason: "strips or tiles are missing", offset: directory.offset)
            }
        }

        /// The planes that a planar picture is made of; others may be empty.
        var neededPlanes: [Int] {
            let colorCount: Int
            switch model {
            case .gray, .palette: colorCount = 1
            case .cmyk: colorCount = 4
            default: colorCount = min(3, sampleCount)
            }
            return Array(0..<colorCount) + (alpha.map { [$0.index] } ?? [])
        }

        /// Whether libtiff decodes a strip much faster as a whole, with libdeflate, than row by row.
        var isDeflated: Bool { compression == 8 || compression == 32946 }

        private var offsetsTag: Int { directory.entries[324] != nil ? 324 : 273 }

        /// The tiles in a row and in a column; strips are as wide as the picture.
        var blockCounts: (x: Int, y: Int) {
            (
                isTiled ? (size.width - 1) / blockSize.width + 1 : 1,
                (size.height - 1) / blockSize.height + 1
            )
        }

        /// Checks that the bytes of a strip or tile are there.
        ///
        /// - Throws: ``CodecError/truncated(byteCount:)`` if the file ends before.
        func checkBlock(_ index: Int, _ bytes: Span<UInt8>) throws(CodecError) {
            if compression == 6 { return }
            let countsTag = directory.entries[325] != nil ? 325 : 279
            guard let offset = directory.integer(offsetsTag, bytes, at: index) else {
                throw .truncated(byteCount: bytes.count)
            }
            var count = directory.integer(countsTag, bytes, at: index) ?? 0
            if compression == 1 {
                // Some programs count bytes that are not there and not needed either.
                let rowByteCount =
                    (blockSize.width * bits * (isPlanar ? 1 : sampleCount) + 7) / 8
                let line = isTiled ? 0 : index % blockCounts.y * blockSize.height
                let lines = min(blockSize.height, isTiled ? blockSize.height : size.height - line)
                count = min(count, rowByteCount.saturatingProduct(lines))
            }
            let (end, overflow) = offset.addingReportingOverflow(count)
            if overflow || end > bytes.count { throw .truncated(byteCount: bytes.count) }
        }

        func isCutShort(_ bytes: Span<UInt8>) -> Bool {
            if compression == 6 { return false }
            let counts = blockCounts
            let last = counts.x * counts.y * (isPlanar ? sampleCount : 1) - 1
            return [0, last / 2, last].contains { index in
                do throws(CodecError) {
                    try checkBlock(index, bytes)
                    return false
                } catch { return true }
            }
        }

        /// Whether it shows the same with fewer pixels.
        func isSmallerVersion(of other: TIFFPicture) -> Bool {
            guard size.width < other.size.width, size.height < other.size.height else {
                return false
            }
            let difference = abs(
                Double(size.width) * Double(other.size.height)
                    - Double(size.height) * Double(other.size.width))
            return difference <= Double(max(other.size.width, other.size.height))
                && (alpha == nil) == (other.alpha == nil) && isGray == other.isGray
                && (model == .cmyk) == (other.model == .cmyk)
        }

        private var isGray: Bool {
            if case .gray = model { true } else { false }
        }

        /// The form of the pixels that it is decoded to.
        var format: PixelFormat {
            let isWide = bits > 8
            switch model {
            case .gray where alpha == nil: return isWide ? .gray16 : .gray8
            case .palette: return alpha == nil ? .rgb8 : .rgba8
            case .cmyk, .converted: return .rgb8
            default:
                if alpha != nil { return isWide ? .rgba16 : .rgba8 }
                return isWide ? .rgb16 : .rgb8
            }
        }
    }
#endif
