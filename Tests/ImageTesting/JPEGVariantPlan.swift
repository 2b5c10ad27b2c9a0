// SPDX-License-Identifier: Apache-2.0

/// The options of one run of cjpeg or jpegtran.
struct JPEGEncoding {
    var arguments: [String] = []
    var scanScript: String?

    var text: String {
        let script = scanScript.map {
            "-scans [\($0.split(separator: "\n").joined(separator: " "))]"
        }
        return (arguments + [script].compactMap(\.self)).joined(separator: " ")
    }
}

/// All decisions about one file of ``JPEGVariants``, drawn before anything is made.
struct JPEGVariantPlan {
    typealias Sampling = (h: Int, v: Int)

    let number: Int
    let seed: UInt64
    /// One, or one for each component of an assembly.
    private(set) var images: [JPEGVariantImage] = []
    private(set) var assembly: JPEGAssembly?
    private(set) var transcoding: JPEGEncoding?
    private(set) var decoration: JPEGDecoration?
    private(set) var isComplete = true

    init(number: Int, seed: UInt64) {
        self.number = number
        self.seed = seed
        var seeds = SeededRandom(seed: seed)
        var random = SeededRandom(seed: seeds.next() &+ UInt64(number))
        let longest = random.chance(4) ? 300 : random.chance(25) ? 17 : 65
        let size = (
            width: Int.random(in: 1...longest, using: &random),
            height: Int.random(in: 1...longest, using: &random)
        )
        if random.chance(30) {
            planAssembly(size, &random)
        } else {
            planImage(size, &random)
        }
        if random.chance(30) { decoration = JPEGDecoration(seed: random.next()) }
    }

    var recipe: String {
        var steps = images.map {
            "\($0.width)x\($0.height) \($0.content) \($0.channelCount == 1 ? "grey" : "colour"), "
                + "cjpeg \($0.encoding.text)"
        }
        if let assembly { steps.append("put together: \(assembly.text)") }
        if let transcoding { steps.append("jpegtran \(transcoding.text)") }
        if decoration != nil { steps.append("fill bytes and comments") }
        return "seed \(seed) number \(number): " + steps.joined(separator: "; ")
    }

    // MARK: An image that cjpeg writes

    private mutating func planImage(
        _ size: (width: Int, height: Int), _ random: inout SeededRandom
    ) {
        let isGray = random.chance(20)
        let isRGB = !isGray && random.chance(15)
        let sampling = isGray ? [grayFactors(&random)] : factors(&random)
        var encoding = quality(&random)
        if isGray { encoding.arguments += ["-grayscale"] }
        if isRGB { encoding.arguments += ["-rgb"] }
        encoding.arguments += [
            "-sample", sampling.map { "\($0.h)x\($0.v)" }.joined(separator: ","),
        ]
        let isTranscoded = random.chance(30)
        add(coding(sampling, mayBePartial: !isTranscoded, &random), to: &encoding)
        images = [image(size, channelCount: isGray ? 1 : 3, encoding, &random)]
        guard isTranscoded else { return }

        var transcoding = JPEGEncoding()
        var result = sampling
        switch Int.random(in: 0..<8, using: &random) {
        case 0: transcoding.arguments = ["-crop", region(of: size, &random)]
        case 1: transcoding.arguments = ["-wipe", region(of: size, &random)]
        case 2: transcoding.arguments = ["-flip", random.chance(50) ? "horizontal" : "vertical"]
        case 3:
            transcoding.arguments = ["-rotate", random.chance(50) ? "90" : "270"]
            result = sampling.map { ($0.v, $0.h) }
        case 4: transcoding.arguments = ["-rotate", "180"]
        case 5:
            transcoding.arguments = [random.chance(50) ? "-transpose" : "-transverse"]
            result = sampling.map { ($0.v, $0.h) }
        case 6 where !isGray && !isRGB && sampling.allSatisfy { isLuma(sampling[0], above: $0) }:
            transcoding.arguments = ["-grayscale"]
            result = [(1, 1)]
        default: break
        }
        add(coding(result, mayBePartial: true, &random), to: &transcoding)
        self.transcoding = transcoding
    }

    private func isLuma(_ luma: Sampling, above other: Sampling) -> Bool {
        luma.h >= other.h && luma.v >= other.v
    }

    private func region(
        of size: (width: Int, height: Int), _ random: inout SeededRandom
    ) -> String {
        let width = Int.random(in: 1...size.width, using: &random)
        let height = Int.random(in: 1...size.height, using: &random)
        let x = Int.random(in: 0...size.width - width, using: &random)
        let y = Int.random(in: 0...size.height - height, using: &random)
        return "\(width)x\(height)+\(x)+\(y)"
    }

    // MARK: Grey images put together

    private mutating func planAssembly(
        _ size: (width: Int, height: Int), _ random: inout SeededRandom
    ) {
        let count = [1, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4].randomElement(using: &random) ?? 3
        // Any factors at all: here nothing has to divide anything.
        let sampling = (0..<count).map { _ in
            Sampling(
                h: Int.random(in: 1...4, using: &random), v: Int.random(in: 1...4, using: &random))
        }
        let most = (h: sampling.map(\.h).max() ?? 1, v: sampling.map(\.v).max() ?? 1)
        let isProgressive = random.chance(50)
        let isTranscoded = random.chance(60)
        for factors in sampling {
            var encoding = quality(&random)
            encoding.arguments += ["-grayscale"] + restart(&random)
            if isProgressive {
                encoding.scanScript = JPEGScanScript(blocksPerUnit: [1])
                    .progressive(isPartial: false, &random)
            } else if random.chance(50) {
                encoding.arguments += ["-optimize"]
            }
            let part = (
                width: (size.width * factors.h).divided(roundedUpBy: most.h),
                height: (size.height * factors.v).divided(roundedUpBy: most.v)
            )
            images.append(image(part, channelCount: 1, encoding, &random))
        }
        assembly = JPEGAssembly(
            width: size.width, height: size.height, sampling: sampling,
            // jpegtran keeps one quantisation table of each number.
            sharesQuantizationTable: !isTranscoded && random.chance(50), seed: random.next())
        if isTranscoded { transcoding = coding(sampling, mayBePartial: false, &random) }
    }

    // MARK: Options

    private func image(
        _ size: (width: Int, height: Int), channelCount: Int, _ encoding: JPEGEncoding,
        _ random: inout SeededRandom
    ) -> JPEGVariantImage {
        JPEGVariantImage(
            content: JPEGVariantImage.Content.allCases.randomElement(using: &random) ?? .noise,
            width: size.width, height: size.height, channelCount: channelCount,
            seed: random.next(), encoding: encoding)
    }

    private func quality(_ random: inout SeededRandom) -> JPEGEncoding {
        let quality =
            random.chance(20)
            ? 100 : Int.random(in: 1...(random.chance(15) ? 5 : 100), using: &random)
        var encoding = JPEGEncoding(arguments: ["-quality", "\(quality)"])
        // Without it, tables of low quality have factors of 16 bits.
        if random.chance(30) { encoding.arguments += ["-baseline"] }
        if random.chance(20) {
            encoding.arguments += ["-dct", random.chance(50) ? "fast" : "float"]
        }
        return encoding
    }

    private func restart(_ random: inout SeededRandom) -> [String] {
        guard random.chance(35) else { return [] }
        return random.chance(50)
            ? ["-restart", "\(Int.random(in: 1...4, using: &random))"]
            : ["-restart", "\(Int.random(in: 1...20, using: &random))B"]
    }

    private mutating func coding(
        _ sampling: [Sampling], mayBePartial: Bool, _ random: inout SeededRandom
    ) -> JPEGEncoding {
        var encoding = JPEGEncoding(arguments: restart(&random))
        let script = JPEGScanScript(blocksPerUnit: sampling.map { $0.h * $0.v })
        let needsScript =
            sampling.count > 1
            && script.blocksPerUnit.reduce(0, +) > JPEGScanScript.maximumBlocksPerUnit
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40 where !needsScript: break
        case 40..<50 where !needsScript: encoding.arguments += ["-progressive"]
        case 0..<60: encoding.scanScript = script.sequential(&random)
        default:
            let isPartial = mayBePartial && random.chance(10)
            isComplete = isComplete && !isPartial
            encoding.scanScript = script.progressive(isPartial: isPartial, &random)
        }
        if random.chance(40) { encoding.arguments += ["-optimize"] }
        return encoding
    }

    private func add(_ other: JPEGEncoding, to encoding: inout JPEGEncoding) {
        encoding.arguments += other.arguments
        encoding.scanScript = other.scanScript
    }

    private func grayFactors(_ random: inout SeededRandom) -> Sampling {
        random.chance(70)
            ? (1, 1)
            : (Int.random(in: 1...4, using: &random), Int.random(in: 1...4, using: &random))
    }

    /// Sampling factors that cjpeg supports: each divides the largest.
    private func factors(_ random: inout SeededRandom) -> [Sampling] {
        if random.chance(40) {
            let common = [(1, 1), (2, 1), (1, 2), (2, 2)].randomElement(using: &random) ?? (1, 1)
            return [common, (1, 1), (1, 1)]
        }
        let most = Sampling(
            h: Int.random(in: 1...4, using: &random), v: Int.random(in: 1...4, using: &random))
        func chroma() -> Sampling {
            let h = (1...most.h).filter { most.h.isMultiple(of: $0) }
            let v = (1...most.v).filter { most.v.isMultiple(of: $0) }
            return random.chance(50)
                ? (1, 1)
                : (h.randomElement(using: &random) ?? 1, v.randomElement(using: &random) ?? 1)
        }
        let factors = [most, chroma(), chroma()]
        // Now and then luma is the coarser one.
        return random.chance(15) ? factors.reversed() : factors
    }
}
