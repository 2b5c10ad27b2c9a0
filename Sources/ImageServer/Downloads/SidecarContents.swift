// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import PhotoLibrary

extension Originals {
    /// The maximum length of a sidecar that is extended.
    private static let maximumSidecarByteCount = 1 << 20

    /// Returns the XMP sidecar of an image with the mark of the user; the properties of a sidecar beside
    /// the image stay.
    ///
    /// - Parameter file: the file of an archive, whose name is the path of the sidecar.
    /// - Returns: `nil` for a sidecar beside the image that is no XMP packet.
    /// - Throws: `CancellationError`.
    func sidecar(of file: Downloads.Selection.File) async throws -> [UInt8]? {
        var sidecar: [UInt8]?
        if let names = RequestPath.names(file.name), let known = try? await identity(names) {
            sidecar = try await onDisk {
                var limits = DecodeLimits()
                limits.maximumByteCount = Self.maximumSidecarByteCount
                let bytes = try? EncodedBytes(reading: known.path, limits: limits)
                return bytes.map { $0.copy(of: 0..<$0.count) } ?? []
            }
        }
        if let rating = file.mark.rating {
            sidecar = XMPSidecar.setting(rating, in: sidecar)
            if sidecar == nil { return nil }
        }
        return XMPSidecar.setting(isFavourite: file.mark.isFavourite, in: sidecar)
    }
}
