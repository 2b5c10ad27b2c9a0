// SPDX-License-Identifier: Apache-2.0

/// A store of renditions and of facts of originals, which outlive the process.
///
/// The effects of a call are visible to every later call, on any thread. Errors are not reported: values
/// that cannot be read are made again. Calls block, so the pipeline makes them on its own threads.
public protocol RenditionStoring: Sendable {
    /// The contents of the store, and its counters since it was opened.
    var statistics: StoreStatistics { get }

    /// Returns the stored rendition of a key.
    func rendition(for key: RenditionKey) -> Rendition?

    /// Returns the newest rendition that needs no revalidation of its original.
    ///
    /// - Parameters:
    ///   - name: the name of the original, of any version.
    ///   - request: as in a ``RenditionKey``.
    /// - Returns: `nil` if there is none that is still fresh.
    func freshRendition(of name: String, _ request: String) -> Rendition?

    /// Stores a rendition, replacing the one before; a rendition larger than the store is ignored.
    ///
    /// - Parameters:
    ///   - rendition: a rendition of the original of `key`.
    ///   - key: identifies the rendition.
    ///   - freshUntil: until when ``freshRendition(of:_:)`` returns it, in seconds since 1970.
    func insert(_ rendition: Rendition, for key: RenditionKey, freshUntil: Int)

    /// Removes one rendition, such as one that is damaged.
    func remove(_ key: RenditionKey)

    /// Removes all renditions and facts of all versions of an original.
    ///
    /// - Parameter name: the path, the URL or the name.
    func removeAll(of name: String)

    /// Removes everything.
    func removeAll()

    /// Returns the stored facts of `originals`; the others are missing.
    func facts(of originals: [FileIdentity]) -> [FileIdentity: ImageFacts]

    /// Stores facts; those of a new version of a file replace the old ones.
    ///
    /// Facts without a placeholder do not remove the stored one of the same version.
    func insert(_ facts: [FileIdentity: ImageFacts])

    /// Writes pending changes; afterwards the store finds and stores nothing.
    func close()
}

extension RenditionStoring {
    /// Stores a rendition whose original is checked before each lookup.
    func insert(_ rendition: Rendition, for key: RenditionKey) {
        insert(rendition, for: key, freshUntil: 0)
    }
}

/// The contents of a store, and its counters since it was opened.
public struct StoreStatistics: Hashable, Sendable {
    /// The number of renditions.
    public var entryCount = 0
    /// The number of bytes of all renditions.
    public var byteCount = 0
    /// The number of lookups that found a rendition.
    public var hitCount = 0
    /// The number of lookups that found none, an expired or a damaged one.
    public var missCount = 0
    /// The number of renditions that were evicted for lack of space or because of their age.
    public var evictionCount = 0

    /// The statistics of an empty store.
    public init() {}
}
