// SPDX-License-Identifier: Apache-2.0

#if HEIF
internal import EncodedImages
internal import Pixels

/// The rotation, mirroring and cropping of an item, which libheif applies but does not report.
struct HEIFTransformations {
    /// The combined orientation of all transformations, in the order in which they are listed.
    ///
    /// It is ``Orientation/upright`` if the item is also cropped: then libheif applies
    /// everything.
    private(set) var orientation = Orientation.upright
    let isCropped: Bool

    init(ofItem item: Int, _ file: Span<UInt8>) {
        var turned = Orientation.upright
        var isCropped = false
        ItemProperties(file).forEachAssociation(file) { owner, property, _ in
            guard owner == item, let box = property else { return }
            let value = file.integer(at: box.start, byteCount: 1) ?? 0
            switch box.type {
            case "clap": isCropped = true
            case "irot":
                turned = turned.followed(
                    by: Orientation(
                        quartersCounterClockwise: value, mirroredTopToBottom: false,
                        leftToRight: false))
            case "imir":
                turned = turned.followed(
                    by: value & 1 == 0 ? .mirroredVertically : .mirroredHorizontally)
            default: break
            }
        }
        self.isCropped = isCropped
        if !isCropped { orientation = turned }
    }
}
#endif
