// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
package import Pixels

/// The state of a viewer of one folder, without a window.
///
/// The window passes commands and sizes in, and draws what this value contains.
package struct Viewer: Sendable {
    /// What the window displays.
    package enum Mode: Hashable, Sendable {
        case grid
        case single
    }

    /// What the window does after a command.
    package enum Effect: Hashable, Sendable {
        case close
        /// Whether the window fills the screen.
        case fullScreen(Bool)
        /// A message for the user.
        case message(String)
    }

    /// The absolute path of the folder.
    package let folder: String
    /// The images.
    package private(set) var list: ImageList
    /// What the window displays.
    package private(set) var mode: Mode
    /// The size of the window in device pixels.
    package private(set) var view = PixelSize(width: 1, height: 1)
    /// The scroll offset of the grid.
    package var motion = ScrollMotion()
    /// The position of the current image; `nil` until its size is known.
    package private(set) var placement: ImagePlacement?
    /// Whether the list of keys is displayed.
    package private(set) var showsKeys = false
    /// Whether the facts about decoding are displayed.
    package private(set) var explains = false
    private var isFullScreen = false
    private var editor: FolderEditor

    /// The side and the gap of the cells of the grid, in device pixels.
    private let cellSide: Int
    private let cellGap: Int

    /// Creates a viewer.
    ///
    /// - Parameters:
    ///   - folder: the absolute path of the folder.
    ///   - first: the name of the image that is opened; `nil` for the grid.
    ///   - editor: changes the files.
    ///   - density: the number of device pixels per unit of the desktop.
    package init(folder: String, first: String?, editor: FolderEditor, density: Int = 1) {
        self.folder = folder
        self.editor = editor
        list = ImageList(first: first)
        mode = first == nil ? .grid : .single
        cellSide = 192 * density
        cellGap = 12 * density
    }

    /// The cells of the grid.
    package var grid: CellGrid {
        CellGrid(
            width: view.width, height: view.height, count: list.count, side: cellSide, gap: cellGap)
    }

    /// Returns the path of an image.
    package func path(_ name: String) -> String { "\(folder == "/" ? "" : folder)/\(name)" }

    /// Changes the size of the window.
    package mutating func resize(to size: PixelSize) {
        view = size
        placement?.resize(to: size)
        updateLimit()
    }

    /// Sets the size of the current image, which places it.
    package mutating func setImageSize(_ size: PixelSize) {
        if placement?.image != size { placement = ImagePlacement(size, in: view) }
    }

    /// Changes the placement of the current image.
    package mutating func place(_ change: (inout ImagePlacement) -> Void) {
        if var placement {
            change(&placement)
            self.placement = placement
        }
    }

    /// Adds names that were found in the folder.
    package mutating func add(_ names: [String]) {
        let row = list.currentIndex.map { Double(grid.origin(of: $0).y) }
        list.merge(names)
        updateLimit()
        // The current cell keeps its place on the screen while others appear before it.
        if let row, let index = list.currentIndex {
            motion.jump(to: motion.offset + Double(grid.origin(of: index).y) - row)
        }
    }

    /// Removes a name that has vanished from the folder.
    package mutating func remove(_ name: String) {
        let old = list.current
        list.remove(name)
        if list.current != old { placement = nil }
        if list.count == 0 { mode = .grid }
        updateLimit()
    }

    /// Makes an image the current one.
    package mutating func select(_ index: Int) {
        let old = list.currentIndex
        list.select(index)
        guard let index = list.currentIndex else { return }
        if index != old { placement = nil }
        motion.limit = grid.maximumOffset
        motion.move(to: grid.offset(revealing: index, from: motion.offset))
    }

    /// Displays an image alone.
    package mutating func open(_ index: Int) {
        select(index)
        guard list.current != nil else { return }
        mode = .single
        placement = nil
    }

    /// Performs a command.
    ///
    /// - Returns: what the window does in addition to drawing.
    package mutating func perform(_ command: ViewerCommand) -> [Effect] {
        switch command {
        case .keys: showsKeys.toggle()
        case .explain: explains.toggle()
        case .quit: return [.close]
        case .leave: return leave()
        case .fullScreen:
            isFullScreen.toggle()
            return [.fullScreen(isFullScreen)]
        case .open: if let index = list.currentIndex { open(index) }
        case .grid: if mode == .grid { return perform(.open) } else { mode = .grid }
        case .next, .previous, .up, .down, .pageUp, .pageDown, .first, .last: move(command)
        case .zoomIn, .zoomOut, .zoomFit, .zoomFull: zoom(command)
        case .trash: return trash()
        case .undo: return undo()
        case .reject, .rate0, .rate1, .rate2, .rate3, .rate4, .rate5:
            return rate(command.rating ?? 0)
        }
        return []
    }

    private mutating func leave() -> [Effect] {
        if showsKeys {
            showsKeys = false
        } else if isFullScreen {
            isFullScreen = false
            return [.fullScreen(false)]
        } else if mode == .single {
            mode = .grid
        } else {
            return [.close]
        }
        return []
    }

    private mutating func move(_ command: ViewerCommand) {
        guard let index = list.currentIndex else { return }
        let row = mode == .grid ? grid.columnCount : 1
        let page = mode == .grid ? row * grid.pageRowCount : 10
        if mode == .single, command == .up || command == .down, pan(command) { return }
        switch command {
        case .next: select(index + 1)
        case .previous: select(index - 1)
        case .up: select(index - row < 0 ? index : index - row)
        case .down: select(index + row)
        case .pageUp: select(index - page)
        case .pageDown: select(index + page)
        case .first: select(0)
        default: select(list.count - 1)
        }
    }

    /// Moves an image that is higher than the window; returns whether it is.
    private mutating func pan(_ command: ViewerCommand) -> Bool {
        guard let placement, placement.height > Double(view.height) else { return false }
        let distance = Double(view.height) / 4
        place { $0.pan(byX: 0, y: command == .up ? distance : -distance) }
        return true
    }

    private mutating func zoom(_ command: ViewerCommand) {
        let (x, y) = (Double(view.width) / 2, Double(view.height) / 2)
        place { placement in
            switch command {
            case .zoomIn: placement.zoom(to: placement.scale * 1.25, atX: x, y: y)
            case .zoomOut: placement.zoom(to: placement.scale / 1.25, atX: x, y: y)
            case .zoomFull: placement.zoom(to: 1, atX: x, y: y)
            default: placement.fit()
            }
        }
    }

    private mutating func trash() -> [Effect] {
        guard let name = list.current else { return [] }
        do throws(FileFailure) {
            try editor.trash(path(name))
        } catch {
            return [.message("\(error)")]
        }
        remove(name)
        return [.message("\(name) is in the trash; undo: Ctrl+z")]
    }

    private mutating func undo() -> [Effect] {
        do throws(FileFailure) {
            guard let path = try editor.undo() else { return [.message("nothing to undo")] }
            let name = String(path.dropFirst(folder == "/" ? 1 : folder.count + 1))
            guard !name.hasSuffix(".xmp") else { return [.message("\(name) is restored")] }
            list.merge([name])
            updateLimit()
            if let index = list.index(of: name) { select(index) }
            return [.message("\(name) is restored")]
        } catch {
            return [.message("\(error)")]
        }
    }

    private mutating func rate(_ rating: Int) -> [Effect] {
        guard let name = list.current, let index = list.currentIndex else { return [] }
        do throws(FileFailure) {
            try editor.rate(path(name), rating)
        } catch {
            return [.message("\(error)")]
        }
        // Culling continues with the next image.
        if mode == .single { select(index + 1) }
        return [.message("\(name): " + (rating < 0 ? "rejected" : "\(rating) of 5 stars"))]
    }

    private mutating func updateLimit() { motion.limit = grid.maximumOffset }
}
