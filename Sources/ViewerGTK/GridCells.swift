// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCodecs
internal import ImageCommands
internal import ImageLoading
internal import Pixels
internal import ViewerModel

/// The cells of the grid and of the film strip while they are visible, and their loads.
@MainActor
final class GridCells {
    /// A cell.
    struct Cell {
        /// The image, or a draft of it until the cell is complete.
        var texture: Texture?
        var failure: String?
        /// Whether the image was loaded, or cannot be.
        var isComplete = false
        fileprivate var load: Task<Void, Never>?
    }

    /// The placeholders of the images of the folder.
    var placeholders: CellPlaceholders
    private var cells: [ComparedByBytes: Cell] = [:]
    private let loads: ImageLoads

    init(_ loads: ImageLoads, _ placeholders: CellPlaceholders) {
        self.loads = loads
        self.placeholders = placeholders
    }

    /// Returns the cell of an image; `nil` if it is not visible.
    subscript(name: String) -> Cell? { cells[ComparedByBytes(name)] }

    /// Loads the cells of the grid that are visible, and prepares those that scrolling is about to reveal.
    func load(_ viewer: Viewer) {
        let grid = viewer.grid
        let isFast = viewer.motion.passes(Double(grid.height), within: 0.3)
        let visible = grid.visible(at: viewer.motion.offset)
        load(visible.map { viewer.list[$0] }, grid.side, onlyFromMemory: isFast)
        placeholders.make(
            grid.appearing(at: viewer.motion.offset, velocity: viewer.motion.velocity)
                .map { ComparedByBytes(viewer.list[$0]) })
        // Many images would be late, and the placeholders would wait for them.
        loads.prefetch(viewer, isPaused: isFast && placeholders.areMissing)
    }

    /// Loads cells, and cancels the loads of those that have left the view.
    ///
    /// - Parameters:
    ///   - visible: the names of the images.
    ///   - side: the side of a cell of the grid.
    ///   - onlyFromMemory: whether no load is started, since it would end too late.
    func load(_ visible: [String], _ side: Int, onlyFromMemory: Bool = false) {
        let names = visible.map { ComparedByBytes($0) }
        end(except: Set(names))
        for name in names {
            var cell = cells[name] ?? Cell()
            guard !cell.isComplete else { continue }
            let request = loads.cellRequest(name.wrappedValue, side: side)
            if cell.load == nil, let loaded = loads.pipeline.cachedImage(for: request),
                !loaded.isPreview
            {
                cells[name] = Cell(texture: Texture(loaded.image), isComplete: true)
                continue
            }
            // A placeholder may have been made since the load was started.
            if cell.texture == nil { cell.texture = draft(of: name, request) }
            if cell.load == nil, !onlyFromMemory {
                cell.load = Task { [weak self] in await self?.finish(request, name) }
            }
            cells[name] = cell
        }
    }

    /// Drops cells, and cancels their loads.
    func end(except names: Set<ComparedByBytes> = []) {
        for (name, cell) in cells where !names.contains(name) {
            cell.load?.cancel()
            cells[name] = nil
        }
    }

    /// Cancels the loads of cells, since none is displayed; their images stay.
    func endLoads() {
        for (name, cell) in cells where cell.load != nil {
            cell.load?.cancel()
            cells[name]?.load = nil
        }
    }

    /// Drops an image whose file has changed.
    func remove(_ name: String) {
        placeholders.remove(name)
        cells.removeValue(forKey: ComparedByBytes(name))?.load?.cancel()
    }

    /// Returns a coarse image of a cell: one of another size in memory, such as a level of detail that
    /// was prefetched, or the stored placeholder.
    private func draft(of name: ComparedByBytes, _ request: ImageRequest) -> Texture? {
        let pipeline = loads.pipeline
        let other =
            pipeline.sharpestCachedImage(for: request)?.image
            ?? pipeline.placeholder(for: request)
        if let other { return Texture(other.image) }
        guard let image = placeholders.image(name) else { return nil }
        return Texture((try? loads.monitor?.profile.converted(image)) ?? image)
    }

    private func finish(_ request: ImageRequest, _ name: ComparedByBytes) async {
        var cell = Cell(isComplete: true)
        do throws(FileFailure) {
            cell.texture = Texture(try await loads.image(request).image)
        } catch {
            cell.failure = error.reason
        }
        guard !Task.isCancelled, cells[name] != nil else { return }
        cells[name] = cell
        calotype_window_redraw()
    }
}
#endif
