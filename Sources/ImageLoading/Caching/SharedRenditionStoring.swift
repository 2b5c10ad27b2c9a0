// SPDX-License-Identifier: Apache-2.0

/// A store of renditions that several pipelines share, such as a bucket of an object store.
///
/// It is searched for renditions of files that the ``RenditionStoring`` of the pipeline does not have,
/// and receives those that the pipeline makes. Its failures are its own: a rendition that it does not
/// return in time is made.
public protocol SharedRenditionStoring: Sendable {
    /// Returns the rendition of a key, checked to be complete.
    ///
    /// - Returns: `nil` if there is none, or none that can be read in time.
    func rendition(for key: RenditionKey) async -> Rendition?

    /// Stores a rendition later, or drops it; returns at once.
    func insert(_ rendition: Rendition, for key: RenditionKey)
}
