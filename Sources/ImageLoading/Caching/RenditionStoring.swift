// SPDX-License-Identifier: Apache-2.0

/// Keeps renditions, and facts of originals, so that they outlive the process.
///
/// What one call has kept or removed is what every later call sees, on whatever thread. Nobody is
/// told what goes wrong: what cannot be read is made again. Calls block, so the pipeline makes them
/// on threads of its own.
public protocol RenditionStoring: Sendable {
    var statistics: StoreStatistics { get }

    /// A rendition that has been kept, whole.
    func rendition(for key: RenditionKey) -> Rendition?

    /// The newest rendition that may be shown without asking whether its original has changed.
    ///
    /// - Parameters:
    ///   - name: that of the original, whatever its version.
    ///   - request: as in a ``RenditionKey``.
    /// - Returns: `nil` if there is none that is still fresh.
    func freshRendition(of name: String, _ request: String) -> Rendition?

    /// Keeps a rendition in place of the one before; one larger than the store changes nothing.
    ///
    /// - Parameters:
    ///   - rendition: of the original that `key` names.
    ///   - key: how it is found again.
    ///   - freshUntil: until when ``freshRendition(of:_:)`` finds it, in seconds since 1970.
    func insert(_ rendition: Rendition, for key: RenditionKey, freshUntil: Int)

    /// Forgets one rendition, such as one that turned out to be damaged.
    func remove(_ key: RenditionKey)

    /// Forgets all renditions and the facts of an original, whatever its version.
    ///
    /// - Parameter name: the path, the address or the name.
    func removeAll(of name: String)

    /// Forgets everything.
    func removeAll()

    /// The facts that are known of `originals`; the others are missing.
    func facts(of originals: [FileIdentity]) -> [FileIdentity: ImageFacts]

    /// Keeps facts; those of a file that has changed take the place of the old ones.
    ///
    /// Facts without a placeholder leave the one that is kept of the same version.
    func insert(_ facts: [FileIdentity: ImageFacts])

    /// Writes down what is pending; from then on nothing is found and nothing kept.
    func close()
}

extension RenditionStoring {
    /// Keeps a rendition whose original is looked at each time before the store is asked.
    func insert(_ rendition: Rendition, for key: RenditionKey) {
        insert(rendition, for: key, freshUntil: 0)
    }
}

/// What a store holds, and how it has done since it was opened.
public struct StoreStatistics: Hashable, Sendable {
    /// Renditions.
    public var entryCount = 0
    /// The bytes of all renditions.
    public var byteCount = 0
    /// Renditions that were asked for and there.
    public var hitCount = 0
    /// Renditions that were asked for and not there, too old or damaged.
    public var missCount = 0
    /// Renditions that had to go for want of room or because of their age.
    public var evictionCount = 0

    public init() {}
}
