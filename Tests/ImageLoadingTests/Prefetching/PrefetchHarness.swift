// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import LoadingTesting
import LoadScheduling

@testable import ImageLoading

/// A prefetcher over originals whose bytes are there, and what it told.
struct PrefetchHarness: Sendable {
    let codec: FakeCodec
    let pipeline: ImagePipeline
    let prefetcher: ImagePrefetcher
    let log = Log<PrefetchEvent>()

    init(
        isGated: Bool = false, width: Int = 2,
        _ change: (inout ImagePipeline.Configuration) -> Void = { $0.decodeThreadCount = 4 }
    ) {
        codec = FakeCodec(isGated: isGated)
        pipeline = ImagePipeline(codec, change)
        prefetcher = ImagePrefetcher(pipeline: pipeline, width: width)
        prefetcher.receive = { [log] in log.append(PrefetchEvent($0)) }
    }

    static func request(_ grey: UInt8) -> ImageRequest {
        ImageRequest(
            .bytes(EncodedBytes(PipelineHarness.file(grey: grey)), name: "\(grey)"))
    }

    var startedNames: [String] {
        log.items.compactMap { if case .started(let name) = $0 { name } else { nil } }
    }
    var idleCount: Int { log.items.count { $0 == .idle } }

    func idle(_ count: Int = 1) async { await eventually { idleCount >= count } }
}

/// An event without what cannot be compared.
enum PrefetchEvent: Hashable, Sendable {
    case started(String)
    case finished(String, LoadError?)
    case idle

    init(_ event: ImagePrefetcher.Event) {
        switch event {
        case .started(let identity): self = .started(identity.source)
        case .finished(let identity, .success): self = .finished(identity.source, nil)
        case .finished(let identity, .failure(let error)): self = .finished(identity.source, error)
        case .idle: self = .idle
        }
    }
}
