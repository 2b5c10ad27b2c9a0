// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import GRDB
internal import ImageLoading

/// What a row of `image` says, without the words that a search finds.
struct ImageRow: Sendable {
    /// How far the file has been read.
    enum State: Int, Sendable {
        case unread, read, unreadable
        /// Could not be read for a reason that may pass; read again at the next start.
        case postponed
    }

    struct Damage: Error {}

    var id: ImageID
    var folder: Int64
    @ComparedByBytes var name: String
    var byteCount: Int
    /// In nanoseconds since 1970.
    var modificationTime: Int
    var inode: UInt64
    var state = State.unread
    var width = 0
    var height = 0
    var rating: Int?
    var latitude: Double?
    var longitude: Double?
    var error: String?

    var aspect: UInt8 { AspectRatio.byte(width: width, height: height) }

    static let columns = """
        image.id, image.folder, image.name, image.byte_count, image.modified, image.inode,
        image.state, image.width, image.height, image.rating, image.latitude, image.longitude,
        image.error, image.checksum
        """

    init(id: ImageID, folder: Int64, name: String, _ identity: FileIdentity) {
        self.id = id
        self.folder = folder
        self.name = name
        byteCount = identity.byteCount
        modificationTime = identity.modificationTime
        inode = identity.inode
    }

    /// - Throws: an error for a damaged row.
    init(_ row: Row) throws {
        id = ImageID(rawValue: try row.decode(Int64.self, forColumn: "id"))
        folder = try row.decode(Int64.self, forColumn: "folder")
        name = try row.decode(String.self, forColumn: "name")
        byteCount = try row.decode(Int.self, forColumn: "byte_count")
        modificationTime = try row.decode(Int.self, forColumn: "modified")
        inode = UInt64(bitPattern: try row.decode(Int64.self, forColumn: "inode"))
        guard let state = State(rawValue: try row.decode(Int.self, forColumn: "state")) else {
            throw Damage()
        }
        self.state = state
        width = try row.decode(Int.self, forColumn: "width")
        height = try row.decode(Int.self, forColumn: "height")
        rating = try row.decode(Int?.self, forColumn: "rating")
        latitude = try row.decode(Double?.self, forColumn: "latitude")
        longitude = try row.decode(Double?.self, forColumn: "longitude")
        error = try row.decode(String?.self, forColumn: "error")
        guard try row.decode(Int64.self, forColumn: "checksum") == checksum else { throw Damage() }
    }

    /// Whether the row describes the version of a file.
    func describes(_ identity: FileIdentity) -> Bool {
        byteCount == identity.byteCount && modificationTime == identity.modificationTime
            && inode == identity.inode
    }

    func insert(_ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO image (id, folder, name, byte_count, modified, inode, state, aspect,
                    width, height, rating, latitude, longitude, error, checksum)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            id.rawValue, folder, name, byteCount, modificationTime, Int64(bitPattern: inode),
            state.rawValue, Int(aspect), width, height, rating, latitude, longitude, error,
            checksum,
        ])
    }

    private var checksum: Int64 {
        var sum = RowChecksum()
        for number in [
            Int(id.rawValue), Int(folder), byteCount, modificationTime,
            Int(truncatingIfNeeded: inode), state.rawValue, width, height, rating ?? -1,
        ] { sum.add(number) }
        sum.add(name)
        sum.add(error)
        for degrees in [latitude, longitude] {
            sum.add(Int(truncatingIfNeeded: degrees?.bitPattern ?? 0))
        }
        return sum.value
    }
}
