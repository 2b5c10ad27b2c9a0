// SPDX-License-Identifier: Apache-2.0

internal import Effects
public import Pixels

/// The image that renditions show as a watermark where their URLs request it.
public struct Watermark: Sendable {
    /// The image in sRGB.
    public let image: PixelBuffer
    /// A name of the content, part of entity tags; letters and digits.
    let identity: String

    /// The image to lay over others.
    var overlay: Overlay { Overlay(image, identity: identity) }

    /// Creates a watermark.
    ///
    /// - Parameter image: the image in sRGB.
    public init(_ image: PixelBuffer) {
        self.image = image
        var fingerprint = Fingerprint()
        fingerprint.add("\(image.size),\(image.format)")
        for plane in 0..<image.format.planeCount {
            for y in 0..<image.layout(ofPlane: plane).size.height {
                let row = image.row(y, plane: plane)
                fingerprint.add(row.indices.map { row[$0] })
            }
        }
        identity = fingerprint.text
    }
}
