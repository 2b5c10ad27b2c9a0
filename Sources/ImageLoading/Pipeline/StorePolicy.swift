// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching

/// What a pipeline keeps on disk.
///
/// | policy | bytes of an original from the web | what was resized, processed or encoded |
/// |---|---|---|
/// | ``originals`` | kept | not kept |
/// | ``renditions`` | not kept | kept |
/// | ``automatic`` | kept if it is asked for as it is | kept |
/// | ``all`` | kept | kept |
///
/// Originals that are files, bytes of the program, or come from an ``OriginalLoader`` are never
/// copied. Each value is written once, by the load that made it, whoever shares that; and not at
/// all if none of those who share it may write (``ImageRequest/storeUse``), or if the server forbids
/// it.
public enum StorePolicy: Sendable, CaseIterable {
    case originals, renditions, automatic, all
}

extension StorePolicy {
    func wish(_ request: ImageRequest) -> StoreWish {
        guard request.storeUse.contains(.writes) else { return [] }
        return originalWish(isWhole: request.isWhole)
            .union(request.isWhole || self == .originals ? [] : .value)
    }

    func wish(_ request: RenditionRequest) -> StoreWish {
        guard request.image.storeUse.contains(.writes) else { return [] }
        return originalWish(isWhole: false).union(self == .originals ? [] : .value)
    }

    private func originalWish(isWhole: Bool) -> StoreWish {
        switch self {
        case .originals, .all: .original
        case .renditions: []
        case .automatic: isWhole ? .original : []
        }
    }
}

extension ImageRequest {
    /// Whether it asks for the picture as it is, neither resized nor processed.
    var isWhole: Bool { options.box == nil && options.region == nil && processors.isEmpty }

    /// Whether what is kept may be shown by the name of the original alone: what a server answers
    /// may depend on the fields of a request.
    var isAnswerableByName: Bool {
        fields.isEmpty && (webUse == .useProtocol || webUse == .onlyIfCached)
    }
}
