// SPDX-License-Identifier: Apache-2.0

internal import DiskStore

extension StoreFile {
    /// The database of a library in the folder of the cache.
    ///
    /// It contains nothing that cannot be read from the files again.
    static func library(directory: String, root: String) -> StoreFile {
        StoreFile(
            directory: directory, name: "library-\(MarkStore.name(ofRoot: root))", version: 1,
            schema: schema)
    }

    // `image.id` is an `ImageID`. A search returns row numbers of `words` in descending order, which is
    // the order of the timeline. Whole words are searched with AND, so that positions are not stored.
    private static let schema = """
        CREATE TABLE folder (
            id INTEGER PRIMARY KEY,
            path TEXT NOT NULL UNIQUE
        );
        CREATE TABLE image (
            id INTEGER PRIMARY KEY,
            folder INTEGER NOT NULL,
            name TEXT NOT NULL,
            byte_count INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            state INTEGER NOT NULL,
            aspect INTEGER NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            rating INTEGER,
            latitude REAL,
            longitude REAL,
            error TEXT,
            checksum INTEGER NOT NULL,
            UNIQUE (folder, name)
        );
        CREATE INDEX image_folder ON image (folder, id);
        CREATE INDEX image_aspect ON image (id, aspect);
        CREATE INDEX image_identity ON image (inode, byte_count, modified);
        CREATE INDEX image_unread ON image (id) WHERE state = 0;
        CREATE INDEX image_location ON image (latitude, longitude) WHERE latitude IS NOT NULL;
        CREATE TABLE value (
            kind TEXT NOT NULL,
            text TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (kind, text)
        ) WITHOUT ROWID;
        CREATE VIRTUAL TABLE words USING fts5 (
            name, folder, camera, lens, keyword, caption, place, kind,
            tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3', detail = 'column'
        );
        """
}
