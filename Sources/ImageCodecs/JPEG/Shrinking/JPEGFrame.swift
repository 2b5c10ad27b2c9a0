// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages
    internal import Pixels

    /// The frame header: how the picture is cut into components, blocks and units (MCUs).
    struct JPEGFrame {
        struct Component {
            var identifier: UInt8
            /// Samples of this component in each direction for each of the least sampled one.
            var horizontalSampling: Int
            var verticalSampling: Int
            var quantizationTable: Int
            /// Blocks that hold samples of the picture, across and down.
            var blocksAcross = 0
            var blocksDown = 0
        }

        var size: PixelSize
        var isProgressive: Bool
        var components: [Component]
        var unitsAcross: Int
        var unitsDown: Int
        var maximumHorizontalSampling: Int
        var maximumVerticalSampling: Int

        /// `nil` for what only libjpeg-turbo reads: arithmetic, lossless, 12 bits, odd tables.
        init?(marker: UInt8, _ body: Span<UInt8>) {
            guard marker == 0xC0 || marker == 0xC1 || marker == 0xC2, body.count >= 6,
                body[0] == 8
            else { return nil }
            isProgressive = marker == 0xC2
            size = PixelSize(
                width: body.bigEndian(at: 3, byteCount: 2),
                height: body.bigEndian(at: 1, byteCount: 2))
            let count = Int(body[5])
            guard !size.isEmpty, count == 1 || count == 3 || count == 4,
                body.count == 6 + count * 3
            else { return nil }
            components = (0..<count).map { index in
                let start = 6 + index * 3
                return Component(
                    identifier: body[start], horizontalSampling: Int(body[start + 1] >> 4),
                    verticalSampling: Int(body[start + 1] & 15),
                    quantizationTable: Int(body[start + 2]))
            }
            let factors = 1...4
            guard
                components.allSatisfy({
                    factors.contains($0.horizontalSampling)
                        && factors.contains($0.verticalSampling) && $0.quantizationTable < 4
                }), Set(components.map(\.identifier)).count == count
            else { return nil }
            maximumHorizontalSampling = components.map(\.horizontalSampling).max() ?? 1
            maximumVerticalSampling = components.map(\.verticalSampling).max() ?? 1
            let (across, down) = (maximumHorizontalSampling * 8, maximumVerticalSampling * 8)
            unitsAcross = (size.width + across - 1) / across
            unitsDown = (size.height + down - 1) / down
            for index in components.indices {
                let component = components[index]
                components[index].blocksAcross =
                    (size.width * component.horizontalSampling + across - 1) / across
                components[index].blocksDown =
                    (size.height * component.verticalSampling + down - 1) / down
            }
        }

        /// Blocks that are coded when the component is in a scan with others: whole units.
        func paddedBlocksAcross(_ component: Int) -> Int {
            unitsAcross * components[component].horizontalSampling
        }

        func paddedBlocksDown(_ component: Int) -> Int {
            unitsDown * components[component].verticalSampling
        }

        /// The samples of a component when each block becomes `blockSide` × `blockSide` of them.
        func size(of component: Int, blockSide: Int) -> PixelSize {
            let across = maximumHorizontalSampling * 8
            let down = maximumVerticalSampling * 8
            let width = size.width * components[component].horizontalSampling * blockSide
            let height = size.height * components[component].verticalSampling * blockSide
            return PixelSize(
                width: (width + across - 1) / across, height: (height + down - 1) / down)
        }
    }
#endif
