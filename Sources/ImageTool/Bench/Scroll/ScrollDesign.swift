// SPDX-License-Identifier: Apache-2.0

internal import ImageLoading
internal import Logging

/// The successive designs of a screen that scrolls.
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
        case .synchronous: "read and decoded whole on the thread that draws"
        case .tagged: "read in the background, decoded when drawn; a tag tells late ones"
        case .displaySize: "read and decoded in the background, at the size shown"
        case .tiled: "the same in tiles, drawn as they come"
        case .neighbours: "at the size shown, with a cache; the next two are loaded ahead"
        case .swapping: "the same, smaller while it moves, exact at rest"
        case .calotype: "the pipeline with its prefetcher for scrolling"
        }
    }

    /// Whether it can use what was kept on disk.
    var usesStore: Bool { self == .calotype }

    /// Bytes of pictures that designs with a cache keep.
    static let cacheByteLimit = 64 << 20

    /// What brings pictures to a screen in this way.
    ///
    /// - Parameters:
    ///   - scene: the screen.
    ///   - ledger: counts what is decoded.
    ///   - store: where pictures of the size shown were kept before, if anywhere.
    /// - Returns: it, with nothing loaded yet.
    func pictures(
        _ scene: ScrollScene, _ ledger: PictureLedger, _ store: RenditionStore?
    ) -> any ScrollPictures {
        typealias Options = BackgroundPictures.Options
        return switch self {
        case .synchronous: SynchronousPictures(scene, ledger)
        case .tagged: TaggedPictures(scene, ledger)
        case .displaySize: BackgroundPictures(scene, ledger, Options())
        case .tiled: BackgroundPictures(scene, ledger, Options(tileSide: 256))
        case .neighbours: BackgroundPictures(scene, ledger, Options(keepsNeighbours: true))
        case .swapping:
            BackgroundPictures(
                scene, ledger, Options(keepsNeighbours: true, swapsResolution: true))
        case .calotype: PipelinePictures(scene, ledger, store)
        }
    }
}
