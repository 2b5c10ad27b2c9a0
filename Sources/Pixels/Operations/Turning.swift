// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns the image rotated and mirrored so that an image stored in `orientation` is upright.
    ///
    /// O(1) for ``Orientation/upright``.
    public func turned(_ orientation: Orientation) -> PixelBuffer {
        guard orientation != .upright else { return self }
        var writer = OrientedWriter(size, format, colorProfile, orientation: orientation)
        for plane in 0..<format.planeCount {
            for y in 0..<format.planeSize(plane, of: size).height {
                writer.append(row(y, plane: plane), plane: plane)
            }
        }
        return writer.finish()
    }

    /// Returns the image in black and white, as ``PixelFormat/gray8``: luma from 128 becomes 255.
    public func thresholded() -> PixelBuffer {
        let gray = converted(to: .gray8)
        var result = MutablePixelBuffer(size: size, format: .gray8, colorProfile: colorProfile)
        for y in 0..<size.height {
            let source = gray.row(y)
            result.withMutableRow(y) { target in
                for x in source.indices { target[x] = source[x] < 128 ? 0 : 255 }
            }
        }
        return result.finish()
    }
}
