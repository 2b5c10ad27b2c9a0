// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
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
        case message(ViewerText)
        /// An error of the system, with the name of the file.
        case failure(String)
        /// Whether an animation plays.
        case play(Bool)
        /// An animation is paused at the next or the previous frame, or the next or the previous page of
        /// another image is shown.
        case step(Int)
        /// Whether the next image is shown after some seconds.
        case slideshow(Bool)
        /// The user enters another name for an image, which is passed to ``Viewer/rename(to:)``.
        case askForName(String)
        /// An image is copied to the clipboard, by its path.
        case copy(String)
        /// An image is opened in another program, by its path.
        case openWith(String)
        /// An image is printed, by its name.
        case print(String)
        /// An image becomes the background of the desktop, by its path.
        case setWallpaper(String)
    }

    /// The absolute path of the folder or the archive, or its URL.
    package private(set) var folder: String
    /// Where the images are stored; only files are changed.
    package private(set) var kind: FolderKind
    /// The images.
    package internal(set) var list: ImageList
    /// What the window displays.
    package internal(set) var mode: Mode
    /// The size of the window in device pixels.
    package private(set) var view = PixelSize(width: 1, height: 1)
    /// The scroll offset of the grid.
    package var motion = ScrollMotion()
    /// The position of the current image; `nil` until its size is known.
    package internal(set) var placement: ImagePlacement?
    /// Whether the list of keys is displayed.
    package internal(set) var showsKeys = false
    /// Whether the facts about decoding are displayed.
    package internal(set) var explains = false
    /// Whether metadata and histogram are displayed.
    package internal(set) var showsInfo = false
    /// Whether the strip of images is displayed below the current one.
    package internal(set) var showsFilmstrip = false
    /// The maximum number of images that are compared; 1 to display one.
    package internal(set) var comparedCount = 1
    /// Whether animations play.
    package internal(set) var isPlaying = true
    /// Whether the next image is shown after some seconds.
    package internal(set) var isSlideshow = false
    /// The rejected images, while their list is displayed.
    package internal(set) var review: [String]?
    /// Whether the first image is at the right.
    package let isRightToLeft: Bool
    var isFullScreen = false
    var editor: FolderEditor
    /// Whether the current image was chosen, instead of being the first one.
    private var isChosen: Bool
    /// Whether the last movement was to an earlier image.
    private var movesBack = false
    private var ratings: [ComparedByBytes: Int?] = [:]

    /// The number of device pixels per unit of the desktop.
    private var density = 1
    /// The side and the gap of the cells of the grid, in device pixels.
    private var cellSide: Int { 192 * density }
    private var cellGap: Int { 12 * density }

    /// Creates a viewer.
    ///
    /// - Parameters:
    ///   - folder: the absolute path of the folder or the archive, or its URL.
    ///   - first: the name of the image that is opened; `nil` for the grid.
    ///   - kind: where the images are stored.
    ///   - editor: changes the files.
    ///   - isRightToLeft: whether the first image is at the right.
    package init(
        folder: String, first: String?, kind: FolderKind = .files, editor: FolderEditor,
        isRightToLeft: Bool = false
    ) {
        self.folder = folder
        self.kind = kind
        self.editor = editor
        self.isRightToLeft = isRightToLeft
        list = ImageList(first: first)
        mode = first == nil ? .grid : .single
        isChosen = first != nil
    }

    /// The cells of the grid.
    package var grid: CellGrid {
        CellGrid(
            width: view.width, height: view.height, count: list.count, side: cellSide,
            gap: cellGap, isRightToLeft: isRightToLeft)
    }

    /// The strip of images; `nil` if it is not displayed.
    package var filmstrip: Filmstrip? {
        guard showsFilmstrip, mode == .single, let current = list.currentIndex else { return nil }
        return Filmstrip(
            width: view.width, count: list.count, current: current, side: cellSide / 2,
            gap: cellGap / 2, isRightToLeft: isRightToLeft)
    }

    /// The parts of the window in which images are displayed.
    package var panes: Panes {
        let height = view.height - (filmstrip?.height ?? 0)
        return Panes(
            PixelSize(width: view.width, height: max(1, height)), count: shown.count,
            isRightToLeft: isRightToLeft)
    }

    /// The images that are displayed: the current one, and those with which it is compared.
    package var shown: Range<Int> {
        guard let current = list.currentIndex else { return 0..<0 }
        return current..<min(list.count, current + comparedCount)
    }

    /// The images that the next keys show, the most likely first: more in the direction of the last
    /// movement.
    package var neighbours: [Int] {
        let (before, after) = (shown.lowerBound - 1, shown.upperBound)
        return (movesBack ? [before, before - 1, after] : [after, after + 1, before])
            .filter { 0..<list.count ~= $0 }
    }

    /// Returns the path of an image.
    package func path(_ name: String) -> String { ViewerModel.path(of: name, in: folder) }

    /// Returns the rating of an image from its sidecar, which is read once; `nil` if it has none.
    package mutating func rating(_ name: String) -> Int? {
        guard kind == .files else { return nil }
        let key = ComparedByBytes(name)
        if let known = ratings[key] { return known }
        let rating = editor.rating(of: path(name))
        ratings[key] = .some(rating)
        return rating
    }

    /// Forgets the rating of an image, or that of the image of a sidecar, since a file has changed.
    package mutating func forgetRating(_ name: String) {
        let image = name.hasSuffix(".xmp") ? String(name.dropLast(4)) : name
        ratings[ComparedByBytes(image)] = nil
    }

    /// Changes the size of the window.
    ///
    /// - Parameters:
    ///   - size: the size in device pixels.
    ///   - density: the number of device pixels per unit of the desktop.
    package mutating func resize(to size: PixelSize, density: Int = 1) {
        view = size
        self.density = max(1, density)
        updateLayout()
    }

    /// Sets the size of the current image, which places it.
    package mutating func setImageSize(_ size: PixelSize) {
        if placement?.image != size { placement = ImagePlacement(size, in: panes.size) }
    }

    /// Changes the placement of the current image, and of those with which it is compared.
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
        updateLayout()
        guard isChosen else { return list.select(0) }
        // The current cell keeps its place on the screen while others appear before it.
        if let row, let index = list.currentIndex {
            motion.jump(to: motion.offset + Double(grid.origin(of: index).y) - row)
        }
    }

    /// Replaces the list by a new listing, after changes of the folder were lost.
    package mutating func replaceList(_ names: [String]) {
        let kept = Set(names.map { ComparedByBytes($0) })
        let removed = (0..<list.count).map { list[$0] }
            .filter { !kept.contains(ComparedByBytes($0)) }
        for name in removed { remove(name) }
        ratings = [:]
        add(names)
    }

    /// Removes a name that has vanished from the folder.
    package mutating func remove(_ name: String) {
        let old = list.current
        list.remove(name)
        forgetRating(name)
        if list.current != old { placement = nil }
        if list.count == 0 { mode = .grid }
        updateLayout()
    }

    /// Removes the names that the folder does not contain any more.
    ///
    /// A report may be older than the restoration of the file by undo.
    package mutating func removeMissing(_ names: [String]) {
        for name in names where !editor.exists(path(name)) { remove(name) }
    }

    /// Makes an image the current one.
    package mutating func select(_ index: Int) {
        let old = list.currentIndex
        isChosen = true
        list.select(index)
        guard let index = list.currentIndex else { return }
        if index != old {
            movesBack = old.map { index < $0 } ?? false
            placement = nil
            isPlaying = true
        }
        motion.limit = grid.maximumOffset
        motion.move(to: grid.offset(revealing: index, from: motion.offset))
        updateLayout()
    }

    /// Displays an image alone.
    package mutating func open(_ index: Int) {
        select(index)
        guard list.current != nil else { return }
        mode = .single
        placement = nil
        updateLayout()
    }

    /// Displays an image or a folder that was opened in another program.
    ///
    /// The changes in other folders can still be reverted.
    ///
    /// - Parameters:
    ///   - name: the name of the image; `nil` for the grid.
    ///   - folder: the absolute path of the folder or the archive, or its URL.
    ///   - kind: where the images are stored.
    package mutating func show(_ name: String?, in folder: String, kind: FolderKind = .files) {
        guard folder.utf8.elementsEqual(self.folder.utf8), kind == self.kind else {
            var other = Viewer(
                folder: folder, first: name, kind: kind, editor: editor,
                isRightToLeft: isRightToLeft)
            other.isFullScreen = isFullScreen
            other.resize(to: view, density: density)
            self = other
            return
        }
        (isSlideshow, showsKeys, review, comparedCount) = (false, false, nil, 1)
        guard let name else {
            mode = .grid
            return updateLayout()
        }
        add([name])
        if let index = list.index(of: name) { open(index) }
    }

    /// Adapts what depends on the size of the window and the number of images.
    mutating func updateLayout() {
        motion.limit = grid.maximumOffset
        let size = panes.size
        if let placement, placement.view != size { self.placement?.resize(to: size) }
    }
}

/// Returns the path of a file in a folder.
package func path(of name: String, in folder: String) -> String {
    "\(folder == "/" ? "" : folder)/\(name)"
}
