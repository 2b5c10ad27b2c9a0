// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCodecs
internal import ImageCommands
internal import ImageLoading
internal import Pixels

/// Converts decoded images to the colours of the monitor.
///
/// The decoder converts to extended sRGB, which contains all colours of the original, within the
/// sandbox; only the profile of the monitor is used in this process.
struct MonitorConversion: ImageProcessor {
    let profile: OutputProfile
    let identity: String

    init(_ profile: OutputProfile) {
        self.profile = profile
        let checksum = ImageIndex.checksum(profile.bytes.span)
        identity = "monitor(\(checksum.map { String($0, radix: 16) }.joined(separator: ".")))"
    }

    func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer {
        try profile.converted(image)
    }

    /// Returns the options for images that are converted.
    static func options(_ options: DecodeOptions) -> DecodeOptions {
        var options = options
        options.keepsDepth = true
        options.pixelFormat = .rgbaHalf
        return options
    }

    /// Reads a profile from a file, or that of the monitor, if there is one.
    ///
    /// - Parameter path: the file; an empty text for no profile; `nil` for that of the monitor.
    /// - Returns: `nil` without a profile.
    /// - Throws: ``FileFailure``.
    @MainActor
    static func make(_ path: String?) throws(FileFailure) -> MonitorConversion? {
        if let path, path.isEmpty { return nil }
        do throws(CodecError) {
            guard let path else {
                let bytes = monitorProfile()
                return bytes.isEmpty ? nil : MonitorConversion(try OutputProfile(bytes))
            }
            let file = try EncodedBytes(reading: path, first: 16 << 20)
            return MonitorConversion(
                try OutputProfile(file.withBytes { bytes in bytes.indices.map { bytes[$0] } }))
        } catch {
            throw FileFailure(path ?? "the profile of the monitor", error)
        }
    }

    @MainActor
    private static func monitorProfile() -> [UInt8] {
        var count = 0
        guard let bytes = unsafe calotype_monitor_profile(&count) else { return [] }
        defer { unsafe calotype_monitor_profile_free(bytes) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
#endif
