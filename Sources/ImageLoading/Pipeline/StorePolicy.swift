// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

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

/// What of a load may be kept on disk, as those who share it say.
struct StoreWish: OptionSet {
    let rawValue: Int

    /// The bytes of an original from the web.
    static let original = StoreWish(rawValue: 1)
    /// What is made of it.
    static let value = StoreWish(rawValue: 2)
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

/// Whether what is made of an original may be kept, and until when it needs no look at the original.
struct Storability: Hashable, Sendable {
    var isAllowed = true
    /// In seconds since 1970; 0 if the original is looked at each time, as files are.
    var freshUntil = 0
    /// Whether the request sent fields, which may have had a say in what the server answered.
    var dependsOnFields = false

    /// Until when what is kept may be shown by the name of the original alone.
    var answersByNameUntil: Int { dependsOnFields ? 0 : freshUntil }
}
