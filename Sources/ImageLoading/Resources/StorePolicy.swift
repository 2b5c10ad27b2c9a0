// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching

/// What a pipeline stores on disk.
///
/// | policy | bytes of an original from the network | resized, processed or encoded images |
/// |---|---|---|
/// | ``originals`` | stored | not stored |
/// | ``renditions`` | not stored | stored |
/// | ``automatic`` | stored if requested unchanged | stored |
/// | ``all`` | stored | stored |
///
/// Originals that are files, bytes of the program, or come from an ``OriginalLoader`` are never
/// copied. Each value is written once, by the load that made it, for all of its consumers. It is not
/// written if no consumer allows it (``ImageRequest/storeUse``), or if the server forbids it.
public enum StorePolicy: Sendable, CaseIterable {
    case originals, renditions, automatic, all
}

extension StorePolicy {
    func wish(_ request: ImageRequest) -> StorePermission {
        guard request.storeUse.contains(.writes) else { return [] }
        return originalWish(isWhole: request.isWhole)
            .union(request.isWhole || self == .originals ? [] : .value)
    }

    func wish(_ request: RenditionRequest) -> StorePermission {
        guard request.image.storeUse.contains(.writes) else { return [] }
        return originalWish(isWhole: false).union(self == .originals ? [] : .value)
    }

    private func originalWish(isWhole: Bool) -> StorePermission {
        switch self {
        case .originals, .all: .original
        case .renditions: []
        case .automatic: isWhole ? .original : []
        }
    }
}

extension ImageRequest {
    /// Whether the request is for the whole image, neither resized nor processed.
    var isWhole: Bool { options.box == nil && options.region == nil && processors.isEmpty }

    /// Whether a stored value answers the request by the name of the original alone.
    ///
    /// A response may depend on the fields of a request.
    var isAnswerableByName: Bool {
        fields.isEmpty && (webUse == .useProtocol || webUse == .onlyIfCached)
    }
}
