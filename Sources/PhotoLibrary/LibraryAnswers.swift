// SPDX-License-Identifier: Apache-2.0

package import ImageLoading
internal import EncodedImages

/// How far the files of a library have been read.
package struct LibraryStatus: Sendable {
    package let isComplete: Bool
    /// The number of images found.
    package let foundCount: Int
    /// The number of images whose headers have been read.
    package let readCount: Int
    /// The estimated time until all are read; `nil` if it is unknown.
    package let secondsLeft: Double?
    /// Changes with the timeline.
    package let generation: String
}

/// The days of a library with what a page needs to lay out their images.
package struct LibraryTimeline: Sendable {
    /// A day, newest first among others.
    package struct Day: Sendable {
        /// The date in ISO 8601, such as `2024-02-29`.
        package let date: String
        /// The number of its images; 0 for a day that has none any more.
        package let count: Int
    }

    package let generation: String
    /// The number of all images.
    package let count: Int
    /// Whether only days that have changed are contained.
    package let isPartial: Bool
    /// Whether older matches of a search were left out.
    package internal(set) var isCut = false
    package let days: [Day]
    /// The aspect ratio of each image of `days`, in one byte: 2^((byte − 128) ÷ 32), or 0 if it is
    /// unknown.
    package let aspects: [UInt8]

    init(_ timeline: Timeline, since known: Int?, _ generation: String) {
        let isPartial = known.map { $0 <= timeline.generation } == true
        let first = isPartial ? known ?? 0 : -1
        self.init(
            timeline.days.reversed().filter {
                // A page that knows nothing does not need days without images.
                $0.generation > first && (isPartial || !$0.ids.isEmpty)
            }, count: timeline.count, isPartial: isPartial, generation)
    }

    /// The timeline of a range of days; of none if it is `nil`.
    init(_ timeline: Timeline, inDays range: ClosedRange<Int>?, _ generation: String) {
        let days = range.map {
            timeline.days[timeline.place(of: $0.lowerBound)..<timeline.place(of: $0.upperBound + 1)]
        }
        let found = (days ?? []).reversed().filter { !$0.ids.isEmpty }
        self.init(
            found, count: found.reduce(0) { $0 + $1.ids.count }, isPartial: false, generation)
    }

    private init(
        _ days: [Timeline.Day], count: Int, isPartial: Bool, _ generation: String
    ) {
        self.generation = generation
        self.count = count
        self.isPartial = isPartial
        self.days = days.map {
            Day(date: CalendarDate(daysSince1970: $0.number).text, count: $0.ids.count)
        }
        aspects = days.flatMap(\.aspects)
    }
}

/// An image of a library.
package struct LibraryImage: Sendable {
    /// The path of its folder in the library.
    package let folder: String
    package let name: String
    package let identity: FileIdentity
    /// The upright width in pixels; 0 if it is unknown.
    package let width: Int
    /// The upright height in pixels; 0 if it is unknown.
    package let height: Int
    /// The time at which it was taken in ISO 8601, without a time zone.
    package let taken: String
    /// Whether the user has marked it as a favourite.
    package let isFavourite: Bool
    /// The rating in stars, by the user or else by the file.
    package let rating: Int?
    /// The reason why it cannot be shown.
    package let error: String?

    init(_ file: LibraryStore.KnownFile, _ mark: ImageMark, root: String) {
        folder = file.folder
        name = file.row.name
        identity = file.identity(in: root)
        width = file.row.width
        height = file.row.height
        taken = file.row.id.time.text
        isFavourite = mark.isFavourite
        rating = mark.rating ?? file.row.rating
        error = file.row.error
    }
}

extension LibraryStore.KnownFile {
    /// The identity of the file when it was listed.
    func identity(in root: String) -> FileIdentity {
        FileIdentity(
            path: "\(root)/\(path)", byteCount: row.byteCount,
            modificationTime: row.modificationTime, inode: row.inode)
    }
}
