// SPDX-License-Identifier: Apache-2.0

#if TIFF
    internal import EncodedImages
    internal import Pixels

    /// The pictures of a file: pages, and the smaller versions that each has.
    ///
    /// Of a chain of more directories than the limit, the first are the file.
    struct TIFFPages {
        let file: TIFFFile
        /// By page, where its directory and those of smaller versions behind it stand.
        private var pages: [(directory: Int, smaller: [Int])] = []

        init(_ bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) {
            file = try TIFFFile(bytes)
            var offset = file.firstDirectory
            var seen: Set<Int> = []
            var count = 0
            while offset != 0, count < max(1, limits.maximumDirectoryCount),
                seen.insert(offset).inserted
            {
                let outline: TIFFDirectoryOutline
                do throws(CodecError) {
                    outline = try TIFFDirectoryOutline(file, bytes, at: offset)
                } catch {
                    // A chain that ends in nothing takes nothing away from the pages before.
                    guard let first = pages.first else { throw error }
                    if case .truncated = error, try isCutShort(first.directory, bytes) {
                        throw error
                    }
                    break
                }
                count += 1
                if pages.isEmpty || !outline.isSubordinate(file, bytes) {
                    pages.append((offset, []))
                } else {
                    pages[pages.count - 1].smaller.append(offset)
                }
                offset = outline.next
            }
            guard !pages.isEmpty else {
                throw .malformed(reason: "the file has no picture", offset: 4)
            }
        }

        var count: Int { pages.count }

        func directory(
            ofPage page: Int, _ bytes: Span<UInt8>
        ) throws(CodecError) -> TIFFDirectory {
            guard page < pages.count else {
                throw .unsupported(feature: "page \(page + 1) of \(pages.count)")
            }
            return try TIFFDirectory(file, bytes, at: pages[page].directory)
        }

        /// Smaller versions of a page that can stand for it; those that make no sense are left out.
        func smallerPictures(
            ofPage page: Int, _ whole: TIFFPicture, _ bytes: Span<UInt8>
        ) -> [TIFFPicture] {
            let children = whole.directory.integers(330, bytes, limit: 32)
            return (pages[page].smaller.prefix(32) + children).compactMap { offset in
                guard let directory = try? TIFFDirectory(file, bytes, at: offset),
                    (directory.integer(254, bytes) ?? 0) & 4 == 0,
                    let picture = try? TIFFPicture(directory, bytes)
                else { return nil }
                return picture.isSmallerVersion(of: whole) ? picture : nil
            }
        }

        /// Whether the file ends before the pixels of a picture do.
        private func isCutShort(
            _ directory: Int, _ bytes: Span<UInt8>
        ) throws(CodecError) -> Bool {
            let picture = try TIFFPicture(try TIFFDirectory(file, bytes, at: directory), bytes)
            return picture.isCutShort(bytes)
        }
    }
#endif
