// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
internal import EncodedImages

/// The contents of the boxes `colr`, `pclr`, `cmap` and `cdef` (ISO/IEC 15444-1, I.5.3).
struct JPEG2000ChannelDefinitions {
    enum Space { case gray, rgb, yCbCr, cmyk }

    struct Palette {
        /// The bit depth and the values of each column.
        var columns: [(depth: Int, values: [Int])] = []

        init(_ body: Span<UInt8>, at offset: Int) throws(CodecError) {
            let malformed = CodecError.malformed(
                reason: "invalid pclr box", offset: offset)
            guard body.count > 3,
                let entryCount = body.integer(at: 0, byteCount: 2),
                (1...1024).contains(entryCount), body.count >= 3 + Int(body[2])
            else { throw malformed }
            let depths = (0..<Int(body[2])).map { Int(body[3 + $0] & 0x7F) + 1 }
            guard depths.allSatisfy({ $0 <= 16 }) else { throw malformed }
            columns = depths.map { ($0, []) }
            var place = 3 + depths.count
            for _ in 0..<entryCount {
                for column in depths.indices {
                    let count = (depths[column] + 7) / 8
                    guard let value = body.integer(at: place, byteCount: count)
                    else { throw malformed }
                    columns[column].values.append(value)
                    place += count
                }
            }
        }
    }

    var space: Space?
    var palette: Palette?
    /// The component and the palette column, if any, of each channel.
    private(set) var mapping: [(component: Int, column: Int?)] = []
    /// The type and the association of each channel (`cdef`).
    private(set) var roles: [Int: (type: Int, association: Int)] = [:]

    mutating func readMapping(_ body: Span<UInt8>) {
        for place in stride(from: 0, to: body.count - 3, by: 4) {
            let component = body.bigEndian(at: place, byteCount: 2)
            mapping.append((component, body[place + 2] == 1 ? Int(body[place + 3]) : nil))
        }
    }

    mutating func readRoles(_ body: Span<UInt8>) {
        for place in stride(from: 2, to: body.count - 5, by: 6) {
            let values = (0..<3).map { body.bigEndian(at: place + 2 * $0, byteCount: 2) }
            if roles[values[0]] == nil { roles[values[0]] = (values[1], values[2]) }
        }
    }
}

/// The components and mappings of an image's colours and alpha.
struct JPEG2000Channels {
    /// The mapping from the samples of a component to a channel.
    struct Channel {
        let component: Int
        /// The value added to a sample so that the minimum is 0.
        let bias: Int
        /// The number of bits by which a sample is then shifted to index `values`.
        let shift: Int
        /// The bit depth of `values`.
        let depth: Int
        /// The value of each sample; samples beyond the last count as the last.
        let values: [Int]
    }

    let model: JPEG2000ChannelDefinitions.Space
    private(set) var colors: [Channel] = []
    private(set) var alpha: Channel?
    private(set) var isPremultiplied = false
    private let components: [JPEG2000Codestream.Component]
    private let hasPalette: Bool

    init(
        _ components: [JPEG2000Codestream.Component],
        _ definitions: JPEG2000ChannelDefinitions
    ) throws(CodecError) {
        self.components = components
        hasPalette = definitions.palette != nil
        var sources = components.indices.map { (component: $0, column: Int?.none) }
        if hasPalette { sources = definitions.mapping }
        guard !sources.isEmpty else {
            throw .malformed(
                reason: "pclr box without a cmap box (ISO/IEC 15444-1, I.5.3.4)", offset: 0)
        }
        var colorIndices: [Int: Int] = [:]
        var alphaIndex: Int?
        for index in sources.indices {
            let role = definitions.roles[index] ?? (0, index + 1)
            switch (role.type, role.association) {
            case (0, 1...):
                colorIndices[role.association] = colorIndices[role.association] ?? index
            // A colour of the image as a whole is the one of its place, as in OpenJPEG.
            case (0, 0): colorIndices[index + 1] = colorIndices[index + 1] ?? index
            case (1, 0), (2, 0):
                alphaIndex = alphaIndex ?? index
                if alphaIndex == index { isPremultiplied = role.type == 2 }
            default: break
            }
        }
        let order = colorIndices.keys.sorted().compactMap { colorIndices[$0] }
        let space =
            definitions.space ?? Self.assumedSpace(components, order.count)
        let needed = [.gray: 1, .cmyk: 4][space] ?? 3
        if order.count >= needed {
            model = space
        } else if !order.isEmpty {
            model = .gray
        } else {
            throw .unsupported(feature: "JPEG 2000 image without colour channels")
        }
        let colorCount = order.count >= needed ? needed : 1
        for index in order.prefix(colorCount) {
            colors.append(try Self.channel(sources[index], components, definitions.palette))
        }
        // A single extra channel without definitions is alpha.
        if alphaIndex == nil, definitions.roles.isEmpty, order.count == colorCount + 1 {
            alphaIndex = order.last
        }
        if let alphaIndex, model != .cmyk {
            alpha = try Self.channel(sources[alphaIndex], components, definitions.palette)
        }
    }

    /// Whether averages of neighbouring samples are meaningful, so that lower resolution levels
    /// show the same image.
    var canShrink: Bool {
        (alpha == nil || isPremultiplied) && !hasPalette
    }

    /// The maximum bit depth of a channel.
    var precision: Int {
        (colors + [alpha].compactMap { $0 }).map(\.depth).max() ?? 8
    }

    /// Returns the grid of the pixels on the reference grid.
    func grid(_ codestream: JPEG2000Codestream) -> Grid {
        let used = colors.map { components[$0.component] }
        return Grid(
            codestream: codestream, stepX: used.map(\.stepX).min() ?? 1,
            stepY: used.map(\.stepY).min() ?? 1)
    }

    struct Grid {
        let codestream: JPEG2000Codestream
        let stepX: Int
        let stepY: Int

        func columns(_ reduction: Int) -> Range<Int> {
            JPEG2000Codestream.samples(
                codestream.columns, step: stepX, reduction: reduction)
        }

        func rows(_ reduction: Int) -> Range<Int> {
            JPEG2000Codestream.samples(codestream.rows, step: stepY, reduction: reduction)
        }
    }

    /// Returns the assumed colour space of an image that specifies none.
    private static func assumedSpace(
        _ components: [JPEG2000Codestream.Component], _ colorCount: Int
    ) -> JPEG2000ChannelDefinitions.Space {
        guard colorCount >= 3 else { return .gray }
        // Only chroma components are subsampled.
        return components.count >= 3 && components[1].stepX > components[0].stepX
            ? .yCbCr : .rgb
    }

    private static func channel(
        _ source: (component: Int, column: Int?),
        _ components: [JPEG2000Codestream.Component],
        _ palette: JPEG2000ChannelDefinitions.Palette?
    ) throws(CodecError) -> Channel {
        guard source.component < components.count else {
            throw .malformed(
                reason:
                    "channel refers to component \(source.component) of \(components.count)",
                offset: 0)
        }
        let component = components[source.component]
        guard component.precision <= 31 else {
            throw .unsupported(feature: "JPEG 2000 component of \(component.precision) bits")
        }
        let bias = component.isSigned ? 1 << (component.precision - 1) : 0
        guard let column = source.column else {
            let depth = min(component.precision, 16)
            return Channel(
                component: source.component, bias: bias, shift: component.precision - depth,
                depth: depth, values: Array(0..<1 << depth))
        }
        guard let palette, column < palette.columns.count else {
            throw .malformed(reason: "channel refers to a missing palette column", offset: 0)
        }
        return Channel(
            component: source.component, bias: bias, shift: 0,
            depth: palette.columns[column].depth, values: palette.columns[column].values)
    }
}
#endif
