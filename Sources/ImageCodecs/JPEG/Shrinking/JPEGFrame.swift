// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages
internal import Pixels

/// The frame header (T.81 B.2.2): components, sampling factors, and the division into MCUs
/// (T.81 A.2).
struct JPEGFrame {
    struct Component {
        var identifier: UInt8
        /// The sampling factors H and V (T.81 A.1.1).
        var horizontalSampling: Int
        var verticalSampling: Int
        var quantizationTable: Int
        /// The number of blocks that contain image samples, across and down.
        var blocksAcross = 0
        var blocksDown = 0
    }

    var size: PixelSize
    var isProgressive: Bool
    var components: [Component]
    var mcusAcross: Int
    var mcusDown: Int
    var maximumHorizontalSampling: Int
    var maximumVerticalSampling: Int

    /// Parses a frame header.
    ///
    /// The result is `nil` for files that only libjpeg-turbo decodes: arithmetic or lossless
    /// coding, 12-bit samples, or invalid sampling factors.
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
        mcusAcross = (size.width + across - 1) / across
        mcusDown = (size.height + down - 1) / down
        for index in components.indices {
            let component = components[index]
            components[index].blocksAcross =
                (size.width * component.horizontalSampling + across - 1) / across
            components[index].blocksDown =
                (size.height * component.verticalSampling + down - 1) / down
        }
    }

    /// The number of blocks coded in an interleaved scan, which consists of complete MCUs (T.81
    /// A.2.3).
    func paddedBlocksAcross(_ component: Int) -> Int {
        mcusAcross * components[component].horizontalSampling
    }

    /// The number of rows of blocks coded in an interleaved scan.
    func paddedBlocksDown(_ component: Int) -> Int {
        mcusDown * components[component].verticalSampling
    }

    /// Returns the size of a component if each block is decoded to `blockSide` × `blockSide`
    /// samples.
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
