// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import EncodedImages

/// The images of a file: pages, and the reduced versions that each has.
///
/// A chain of more directories than the limit ends there.
struct TIFFPages {
    let layout: TIFFLayout
    /// By page, the offset of its directory and of those of the reduced versions after it.
    private var pages: [(directory: Int, reduced: [Int])] = []

    init(_ bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) {
        layout = try TIFFLayout(header: bytes)
        var offset = layout.firstDirectory(bytes)
        var seen: Set<Int> = []
        var count = 0
        while offset != 0, count < max(1, limits.maximumDirectoryCount),
            seen.insert(offset).inserted
        {
            let outline: TIFFDirectoryOutline
            do throws(CodecError) {
                outline = try TIFFDirectoryOutline(checking: layout, bytes, at: offset)
            } catch {
                // A broken chain does not invalidate the pages before.
                guard let first = pages.first else { throw error }
                if case .truncated = error, try isCutShort(first.directory, bytes) {
                    throw error
                }
                break
            }
            count += 1
            if pages.isEmpty || !outline.isSubordinate(bytes) {
                pages.append((offset, []))
            } else {
                pages[pages.count - 1].reduced.append(offset)
            }
            offset = outline.next
        }
        guard !pages.isEmpty else {
            throw .malformed(reason: "the file contains no directory", offset: 4)
        }
    }

    var count: Int { pages.count }

    func directory(ofPage page: Int, _ bytes: Span<UInt8>) throws(CodecError) -> TIFFDirectory {
        guard page < pages.count else {
            throw .unsupported(feature: "page \(page + 1) of \(pages.count)")
        }
        return try TIFFDirectory(checking: layout, bytes, at: pages[page].directory)
    }

    /// The valid reduced versions of a page.
    func reducedVersions(
        ofPage page: Int, _ whole: TIFFImage, _ bytes: Span<UInt8>
    ) -> [TIFFImage] {
        let children = whole.directory.unsigned(.subIFDs, bytes, limit: 32)
        return (pages[page].reduced.prefix(32) + children).compactMap { offset in
            guard let directory = try? TIFFDirectory(checking: layout, bytes, at: offset),
                (directory.unsigned(.newSubfileType, bytes) ?? 0) & 4 == 0,
                let image = try? TIFFImage(directory, bytes)
            else { return nil }
            return image.isReducedVersion(of: whole) ? image : nil
        }
    }

    /// Whether the file ends before the pixels of an image do.
    private func isCutShort(_ directory: Int, _ bytes: Span<UInt8>) throws(CodecError) -> Bool {
        let image = try TIFFImage(
            try TIFFDirectory(checking: layout, bytes, at: directory), bytes)
        return image.isCutShort(bytes)
    }
}
#endif
