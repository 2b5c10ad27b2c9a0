// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Fills the thumbnail cache for one file at a time; callable from several threads.
struct CacheFilling: Sendable {
    /// The state of a file's thumbnails after it was processed.
    struct Entry: Hashable, Sendable {
        /// The paths of the thumbnails that were written.
        let written: [String]
        /// The number of thumbnails that were valid before.
        let validCount: Int
    }

    let cache: ThumbnailCache
    let maker: ThumbnailMaker
    let sizes: [ThumbnailCache.Size]

    /// Writes the missing and outdated thumbnails of a file.
    ///
    /// A file that cannot be read gets a failure entry, and fails without being read again until it
    /// changes.
    ///
    /// - Throws: ``FileFailure``.
    func fill(_ path: String, _ cancellation: CancellationFlag) throws(FileFailure) -> Entry {
        guard let uri = FileURI(path) else { throw FileFailure(path, "not a local file") }
        do throws(CodecError) {
            let file = try ThumbnailedFile(uri)
            let identity = file.identity
            let missing = sizes.filter { !cache.isValid(cache.path(of: uri, $0), for: identity) }
            let validCount = sizes.count - missing.count
            guard !missing.isEmpty else { return Entry(written: [], validCount: validCount) }
            let failurePath = cache.failurePath(of: uri)
            if cache.isValid(failurePath, for: identity) {
                throw .file(
                    reason: "could not be read before; to try again, delete \(failurePath)")
            }
            let thumbnails = try images(of: file, missing, cancellation)
            let paths = missing.map { cache.path(of: uri, $0) }
            for (thumbnail, path) in zip(thumbnails, paths) {
                try write(thumbnail, to: path)
            }
            return Entry(written: paths, validCount: validCount)
        } catch {
            throw FileFailure(path, error)
        }
    }

    private func images(
        of file: borrowing ThumbnailedFile, _ sizes: [ThumbnailCache.Size],
        _ cancellation: CancellationFlag
    ) throws(CodecError) -> [[UInt8]] {
        do throws(CodecError) {
            return try maker.thumbnails(
                of: file, sides: sizes.map(\.side), cancellation: cancellation)
        } catch {
            if error.isPermanent {
                try write(
                    maker.failureEntry(for: file), to: cache.failurePath(of: file.uri))
            }
            throw error
        }
    }

    private func write(_ entry: [UInt8], to path: String) throws(CodecError) {
        do throws(FileFailure) {
            try cache.write(entry, to: path)
        } catch {
            throw .file(reason: "\(error)")
        }
    }
}

extension CodecError {
    /// Whether reading the same bytes again would fail again.
    fileprivate var isPermanent: Bool {
        switch self {
        case .unknownFormat, .empty, .malformed, .truncated, .unsupported, .limitExceeded: true
        case .decoderStopped(.crash), .decoderStopped(.memory), .decoderStopped(.forbidden): true
        default: false
        }
    }
}
