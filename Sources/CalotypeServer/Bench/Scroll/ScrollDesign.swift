// SPDX-License-Identifier: Apache-2.0

internal import ImageLoading

/// The designs of an image view, each an improvement of an earlier one.
enum ScrollDesign: String, CaseIterable, Codable {
    case synchronous
    case tagged
    case displaySize = "display-size"
    case tiled
    case neighbours
    case swapping
    case calotype

    var summary: String {
        switch self {
        case .synchronous: "reads and decodes at full size on the drawing thread"
        case .tagged: "reads in the background, decodes when drawn; tags identify late results"
        case .displaySize: "reads and decodes in the background, at the displayed size"
        case .tiled: "the same in tiles, drawn as they arrive"
        case .neighbours: "at the displayed size, with a cache; loads the next two in advance"
        case .swapping: "the same, at reduced size while moving, exact at rest"
        case .calotype: "the pipeline with its scroll prefetcher"
        }
    }

    /// Whether the design uses the store on disk.
    var usesStore: Bool { self == .calotype }

    /// The cache size of designs with a cache, in bytes.
    static let cacheByteLimit = 64 << 20

    /// Creates an implementation of the design.
    ///
    /// - Parameters:
    ///   - scene: The screen.
    ///   - ledger: The statistics of decoded images.
    ///   - store: The store of a run with a warm store.
    /// - Returns: The implementation, with no image loaded.
    func images(
        _ scene: ScrollScene, _ ledger: ImageLedger, _ store: RenditionStore?
    ) -> any ScrollImages {
        typealias Options = BackgroundImages.Options
        return switch self {
        case .synchronous: SynchronousImages(scene, ledger)
        case .tagged: TaggedImages(scene, ledger)
        case .displaySize: BackgroundImages(scene, ledger, Options())
        case .tiled: BackgroundImages(scene, ledger, Options(tileSide: 256))
        case .neighbours: BackgroundImages(scene, ledger, Options(keepsNeighbours: true))
        case .swapping:
            BackgroundImages(
                scene, ledger, Options(keepsNeighbours: true, swapsResolution: true))
        case .calotype: PipelineImages(scene, ledger, store)
        }
    }
}
