// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension Orientation {
    /// The orientation of an image to which `irot` and then `imir` apply.
    ///
    /// - Parameters:
    ///   - quarters: the number of rotations by 90° counter-clockwise.
    ///   - topToBottom: whether it is then flipped vertically.
    ///   - leftToRight: whether it is then flipped horizontally.
    /// - SeeAlso: ISO/IEC 23008-12, 6.5.10 and 6.5.12.
    init(
        quartersCounterClockwise quarters: Int, mirroredTopToBottom topToBottom: Bool,
        leftToRight: Bool
    ) {
        var steps: [Orientation] = Array(repeating: .rotated270, count: quarters & 3)
        if topToBottom { steps.append(.mirroredVertically) }
        if leftToRight { steps.append(.mirroredHorizontally) }
        self = steps.reduce(.upright) { $0.followed(by: $1) }
    }

    /// Returns the composition of this orientation and then `next`.
    func followed(by next: Orientation) -> Orientation {
        let size = PixelSize(width: 2, height: 3)
        func places(_ steps: [Orientation]) -> [Int] {
            [(0, 0), (1, 0), (0, 2)].map { x, y in
                var place = (x: x, y: y)
                var area = size
                for step in steps {
                    place = step.position(ofX: place.x, y: place.y, in: area)
                    area = step.oriented(area)
                }
                return place.x * 10 + place.y
            }
        }
        let wanted = places([self, next])
        return Orientation.allCases.first { places([$0]) == wanted } ?? .upright
    }
}
