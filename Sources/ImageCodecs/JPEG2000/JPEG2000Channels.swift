// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
    internal import EncodedImages
    internal import Pixels

    /// What the boxes `colr`, `pclr`, `cmap` and `cdef` say.
    struct JPEG2000ChannelDefinitions {
        enum Space { case gray, rgb, yCbCr, cmyk }

        struct Palette {
            /// By column, the number of bits and the values.
            var columns: [(depth: Int, values: [Int])] = []

            init(_ body: Span<UInt8>, at offset: Int) throws(CodecError) {
                let malformed = CodecError.malformed(
                    reason: "the palette makes no sense", offset: offset)
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
        /// By channel, the component and the palette's column, if any.
        private(set) var mapping: [(component: Int, column: Int?)] = []
        /// What each channel is, and what it belongs to.
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

    /// Where the colours and the alpha of a picture come from.
    struct JPEG2000Channels {
        /// A channel's way from numbers of a component to samples.
        struct Channel {
            let component: Int
            /// What is added to a number so that the least is 0.
            let bias: Int
            /// By how many bits a number is then shifted, to index `values`.
            let shift: Int
            /// The number of bits of `values`.
            let depth: Int
            /// A value for each number; numbers behind the last count as the last.
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
            if definitions.palette != nil, !definitions.mapping.isEmpty {
                sources = definitions.mapping
            }
            var colorIndices: [Int: Int] = [:]
            var alphaIndex: Int?
            for index in sources.indices {
                let role = definitions.roles[index] ?? (0, index + 1)
                switch (role.type, role.association) {
                case (0, 1...):
                    colorIndices[role.association] = colorIndices[role.association] ?? index
                case (1, 0), (2, 0):
                    alphaIndex = alphaIndex ?? index
                    if alphaIndex == index { isPremultiplied = role.type == 2 }
                default: break
                }
            }
            let order = colorIndices.keys.sorted().compactMap { colorIndices[$0] }
            let space =
                definitions.space ?? Self.guess(components, order.count)
            let needed = [.gray: 1, .cmyk: 4][space] ?? 3
            if order.count >= needed {
                model = space
            } else if !order.isEmpty {
                model = .gray
            } else {
                throw .unsupported(feature: "a JPEG 2000 picture without colours")
            }
            let colorCount = order.count >= needed ? needed : 1
            for index in order.prefix(colorCount) {
                colors.append(try Self.channel(sources[index], components, definitions.palette))
            }
            // Two and four channels of which nothing is said are colours and alpha.
            if alphaIndex == nil, definitions.roles.isEmpty, order.count == colorCount + 1 {
                alphaIndex = order.last
            }
            if let alphaIndex, model != .cmyk {
                alpha = try Self.channel(sources[alphaIndex], components, definitions.palette)
            }
        }

        /// Whether numbers of neighbours have a mean that makes sense, so that the wavelet's smaller
        /// pictures show what the whole one does.
        var canShrink: Bool {
            (alpha == nil || isPremultiplied) && !hasPalette
        }

        /// The most bits that a channel has.
        var precision: Int {
            (colors + [alpha].compactMap { $0 }).map(\.depth).max() ?? 8
        }

        /// Where the pixels lie on the reference grid.
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

        /// The colours of a picture that does not say what they are.
        private static func guess(
            _ components: [JPEG2000Codestream.Component], _ colorCount: Int
        ) -> JPEG2000ChannelDefinitions.Space {
            guard colorCount >= 3 else { return .gray }
            // Only colour differences are worth fewer samples.
            return components.count >= 3 && components[1].stepX > components[0].stepX
                ? .yCbCr : .rgb
        }

        private static func channel(
            _ source: (component: Int, column: Int?),
            _ components: [JPEG2000Codestream.Component],
            _ palette: JPEG2000ChannelDefinitions.Palette?
        ) throws(CodecError) -> Channel {
            guard source.component < components.count else {
                throw .malformed(reason: "a channel has no component", offset: 0)
            }
            let component = components[source.component]
            guard component.precision <= 31 else {
                throw .unsupported(feature: "\(component.precision) bits in JPEG 2000")
            }
            let bias = component.isSigned ? 1 << (component.precision - 1) : 0
            guard let column = source.column else {
                let depth = min(component.precision, 16)
                return Channel(
                    component: source.component, bias: bias, shift: component.precision - depth,
                    depth: depth, values: Array(0..<1 << depth))
            }
            guard let palette, column < palette.columns.count else {
                throw .malformed(reason: "the palette lacks a column", offset: 0)
            }
            return Channel(
                component: source.component, bias: bias, shift: 0,
                depth: palette.columns[column].depth, values: palette.columns[column].values)
        }
    }
#endif
