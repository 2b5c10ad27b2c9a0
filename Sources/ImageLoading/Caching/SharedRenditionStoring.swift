// SPDX-License-Identifier: Apache-2.0

public import LoadScheduling

/// A store of renditions that several pipelines share, such as a bucket of an object store.
///
/// It is searched for renditions of files that the ``RenditionStoring`` of the pipeline does not have,
/// and receives those that the pipeline makes. Its failures are its own: a rendition that it does not
/// return in time is made.
public protocol SharedRenditionStoring: Sendable {
    /// Returns the rendition of a key, checked to be complete.
    ///
    /// A store may wait for another pipeline that is making the rendition.
    ///
    /// - Returns: `nil` if there is none, or none that can be read in time.
    func rendition(for key: RenditionKey) async -> Rendition?

    /// Stores a rendition later, or drops it; returns at once.
    func insert(_ rendition: Rendition, for key: RenditionKey)

    /// Called when a request for the rendition of a key has ended after a lookup: it was returned, made or
    /// neither; after ``insert(_:for:)``, if that is called.
    func endMaking(of key: RenditionKey)

    /// Drops the renditions of an original that wait to be stored; returns at once.
    ///
    /// - Parameter name: the path, as in ``FileIdentity/path``.
    func dropWaiting(of name: String)

    /// Removes all renditions of all versions of an original, for all pipelines.
    ///
    /// A rendition that another pipeline is storing at this time may stay.
    ///
    /// - Parameter name: the path, as in ``FileIdentity/path``.
    /// - Throws: `LoadError` if some may be left.
    func removeAll(of name: String) async throws(LoadError)
}
