// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import Glibc
internal import ImageCommands
internal import ImageLoading
internal import LoadScheduling
internal import Pixels
internal import ViewerModel

/// The window: it passes events to the model, and what the model contains to the parts that load and draw it.
@MainActor
final class ViewerWindow {
    private var viewer: Viewer
    private let cells: GridCells
    private let shown: ShownImages
    private let loads: ImageLoads
    private let engine: ImageEngine
    private let keyMap: KeyMap
    private let language: ViewerLanguage
    private let drawing: WindowDrawing
    private let accessibleCells: AccessibleCells
    private let printer: ImagePrinter
    private let measurement: Measurement?
    private let size: PixelSize
    private var follower: FolderFollower?
    private var pointer = PointerInput()
    private var typed = TypedText()
    private var message: String?
    private var lastFrame: Double?
    private var hold: Task<Void, Never>?
    private var slideshow: Task<Void, Never>?
    private var opening: Task<Void, Never>?

    /// - Parameters:
    ///   - path: what is opened first.
    ///   - options: the options of the command.
    /// - Throws: ``FileFailure`` for a profile that cannot be used.
    init(_ path: OpenedPath, _ options: ViewerOptions) throws(FileFailure) {
        size = options.size
        let home = environmentValue("HOME") ?? "/"
        let data = environmentValue("XDG_DATA_HOME") ?? "\(home)/.local/share"
        let cache = environmentValue("XDG_CACHE_HOME") ?? "\(home)/.cache"
        let locale =
            ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap(environmentValue).first ?? "C"
        language = ViewerLanguage(locale: locale)
        accessibleCells = AccessibleCells(language)
        viewer = Viewer(
            folder: path.folder, first: path.file, kind: path.kind,
            editor: FolderEditor(trashFolder: "\(data)/Trash"),
            isRightToLeft: ViewerLanguage.isRightToLeft(locale: locale))
        var map = KeyMap()
        let configuration = environmentValue("XDG_CONFIG_HOME") ?? "\(home)/.config"
        message = Self.apply("\(configuration)/calotype/keys", to: &map)
        keyMap = map
        engine = ImageEngine.start(cacheFolder: "\(cache)/calotype")
        let folder = try path.open(
            extensions: imageExtensions, transport: engine.connections)
        loads = ImageLoads(engine, folder)
        cells = GridCells(loads, CellPlaceholders(engine, Self.thumbnails, folder))
        shown = ShownImages(loads, cells, defaultBox: options.size)
        drawing = WindowDrawing(cells, shown, language)
        printer = ImagePrinter(loads)
        measurement = options.measures ? Measurement(scrollSeconds: options.scrollSeconds) : nil
        do throws(FileFailure) {
            loads.monitor = try MonitorConversion.make(options.profile)
        } catch {
            // The profile of a monitor is not the choice of the user: images appear without it.
            if options.profile != nil { throw error }
            message = "\(error)"
        }
    }

    /// Opens the window and returns when it is closed.
    func run() {
        defer {
            for task in [slideshow, hold, opening] { task?.cancel() }
            printer.stop()
            follower?.stop()
            engine.drafts.stop()
            loads.close()
            engine.connections.close()
        }
        shown.changed = { [weak self] in self?.change() }
        follow()
        var events = unsafe calotype_window_events(for: self)
        unsafe calotype_window_run(&events, title, Int32(size.width), Int32(size.height))
    }

    /// The thumbnails that file managers share.
    private static var thumbnails: ThumbnailCache? { ThumbnailCache(ofUser: environmentValue) }

    // MARK: Folders

    /// Displays a file or a folder that another process was started for.
    func open(_ uri: String) {
        opening?.cancel()
        opening = Task { [weak self] in
            do throws(FileFailure) {
                let path = try await Self.path(uri)
                guard let self, !Task.isCancelled else { return }
                try open(path)
            } catch {
                self?.show("\(error)")
            }
        }
    }

    /// Reads the kind of a file, which waits for its disk.
    @concurrent private static func path(_ uri: String) async throws(FileFailure) -> OpenedPath {
        try OpenedPath(uri)
    }

    private func open(_ path: OpenedPath) throws(FileFailure) {
        let isOther = !viewer.folder.utf8.elementsEqual(path.folder.utf8)
        let folder =
            isOther
            ? try path.open(
                extensions: imageExtensions, transport: engine.connections) : loads.folder
        setSlideshow(false)
        message = nil
        viewer.show(path.file, in: path.folder, kind: path.kind)
        if isOther {
            follower?.stop()
            loads.endPrefetching()
            shown.end()
            cells.end()
            loads.folder = folder
            cells.placeholders = CellPlaceholders(engine, Self.thumbnails, folder)
            follow()
        }
        change()
    }

    /// Lists the folder, after the opened image is displayed, and follows its changes.
    private func follow() {
        shown.update(&viewer)
        let follower = FolderFollower(
            loads.folder, watching: viewer.kind == .files ? viewer.folder : nil,
            cells.placeholders
        ) { [weak self] event in self?.take(event) }
        self.follower = follower
        guard viewer.mode == .single else { return follower.list() }
        follower.list { [weak shown] in
            // Merging many names would delay the first frame with the image, whose load starts again
            // when the window gets its size.
            for _ in 0..<4 where shown?.current?.loaded == nil {
                await shown?.current?.load?.value
            }
        }
    }

    private func take(_ event: FolderFollower.Event) {
        switch event {
        case .found(let names): viewer.add(names)
        case .failed(let text): message = text
        case .listed(let names):
            shown.end()
            cells.end()
            for name in names { loads.pipeline.removeFromMemory(viewer.path(name)) }
            viewer.replaceList(names)
        case .changed(let changes):
            let extensions = imageExtensions
            viewer.removeMissing(changes.removed)
            let written = changes.written.filter { isImageName($0, extensions) }
            for name in changes.written + changes.removed { viewer.forgetRating(name) }
            // The pixels of a file that was written again are out of date.
            for name in written { forget(name) }
            if !written.isEmpty { viewer.add(written) }
        }
        change()
    }

    /// Drops the pixels of an image.
    private func forget(_ name: String) {
        loads.pipeline.removeFromMemory(viewer.path(name))
        cells.remove(name)
        shown.remove(name)
    }

    // MARK: Drawing

    /// Loads what has become visible, and draws.
    private func change() {
        if viewer.mode == .single {
            loads.stopPrefetching()
            if viewer.filmstrip == nil { cells.endLoads() }
        }
        shown.update(&viewer)
        unsafe calotype_window_set_title(title)
        calotype_window_redraw()
    }

    /// Draws a frame; returns whether another follows.
    func draw(at seconds: Double, _ size: PixelSize, density: Int) -> Bool {
        if viewer.view != size {
            viewer.resize(to: size, density: density)
            loads.resize(to: size)
            shown.update(&viewer)
        }
        viewer.motion.advance(by: min(0.1, seconds - (lastFrame ?? seconds)))
        measurement?.scroll(&viewer, at: seconds)
        let isMoving = viewer.mode == .grid && viewer.motion.isMoving
        lastFrame = isMoving ? seconds : nil
        // The theme may change at any time.
        let palette: Palette =
            viewer.mode == .single || calotype_theme_is_dark() ? .dark : .light
        drawing.draw(&viewer, palette)
        WindowPanels(
            viewer: viewer, image: shown.current, message: message, keyMap: keyMap,
            language: language, palette: palette
        ).draw()
        accessibleCells.update(viewer)
        let continues = measurement?.note(viewer, cells, shown, at: seconds) ?? false
        return isMoving || continues
    }

    private var title: String {
        guard let name = viewer.list.current, let index = viewer.list.currentIndex else {
            return viewer.folder
        }
        let title = ViewerText.title(name: name, number: index + 1, count: viewer.list.count)
            .text(in: language)
        guard let page = shown.current?.page, page.count > 1 else { return title }
        return "\(title), \(page.label.text(in: language))"
    }

    private func show(_ text: String?) {
        message = text
        change()
    }

    // MARK: Input

    func pressKey(_ name: String) -> Bool {
        // The arrow keys follow the order on the screen.
        let mirrored = ["Left": "Right", "Right": "Left"][name]
        guard let command = keyMap[viewer.isRightToLeft ? mirrored ?? name : name] else {
            return false
        }
        perform(command)
        return true
    }

    /// Selects the image whose name starts with the typed text.
    func type(_ character: Unicode.Scalar, at seconds: Double) {
        typed.append(character, at: seconds)
        if let index = viewer.list.index(startingWith: typed.text) { viewer.select(index) }
        show(typed.text)
    }

    /// Changes the viewer by an event of the pointer.
    func point(_ body: (inout PointerInput, inout Viewer) -> Void) {
        body(&pointer, &viewer)
        change()
    }

    func press(_ count: Int, x: Double, y: Double) {
        if pointer.press(&viewer, count, x: x, y: y) {
            hold = Task { [weak self] in
                let isHeld = (try? await Task.sleep(for: .milliseconds(250))) != nil
                if isHeld { self?.point { pointer, viewer in pointer.hold(&viewer, x: x, y: y) } }
            }
        }
        change()
    }

    func release() {
        hold?.cancel()
        point { pointer, viewer in pointer.release(&viewer) }
    }

    func drag(dx: Double, dy: Double) {
        if !pointer.drag(&viewer, dx: dx, dy: dy) { hold?.cancel() }
        change()
    }

    func swipe(x: Double, y: Double) {
        if let command = pointer.swipe(&viewer, x: x, y: y) { perform(command) }
        change()
    }

    /// Returns the URI of the file that is dragged out of the window, which starts at a cell.
    func draggedURI(x: Double, y: Double) -> String? {
        guard viewer.kind == .files else { return nil }
        return pointer.cell(viewer, x: x, y: y)
            .flatMap { FileURI(viewer.path(viewer.list[$0]))?.text }
    }

    /// Opens an image by its cell.
    func activate(_ index: Int) {
        guard index < viewer.list.count else { return }
        if viewer.mode == .grid { viewer.open(index) } else { viewer.select(index) }
        change()
    }

    /// Renames the current image by the name that the user entered.
    func rename(to name: String) { perform(viewer.rename(to: name)) }

    /// Shows whether the desktop accepts the current image as the background.
    func endWallpaper(_ error: String?) {
        show(error ?? viewer.list.current.map { ViewerText.isWallpaper($0).text(in: language) })
    }

    // MARK: Commands

    private func perform(_ command: ViewerCommand) {
        let effects = viewer.perform(command)
        // A folder that is followed reports which files were written.
        if follower?.isWatching != true, [.turnLeft, .turnRight, .undo].contains(command),
            let name = viewer.list.current
        {
            forget(name)
        }
        perform(effects)
    }

    private func perform(_ effects: [Viewer.Effect]) {
        message = nil
        for effect in effects { perform(effect) }
        change()
    }

    private func perform(_ effect: Viewer.Effect) {
        switch effect {
        case .close: calotype_window_close()
        case .fullScreen(let isFull): calotype_window_set_full_screen(isFull)
        case .message(let text): message = text.text(in: language)
        case .failure(let text): message = text
        case .play(let isPlaying): shown.play(isPlaying)
        case .step(let count): shown.step(count)
        case .slideshow(let isOn): setSlideshow(isOn)
        case .copy(let path):
            unsafe calotype_clipboard_set_file(FileURI(path)?.text ?? path, path)
        case .askForName(let name):
            // The extension is kept unless the user changes it.
            let stem = splitExtension(name).name
            unsafe calotype_ask_for_name(
                ViewerText.command(.rename).text(in: language), name,
                Int32(stem.unicodeScalars.count))
        case .print(let name): printer.print(name) { [weak self] in self?.show("\($0)") }
        case .setWallpaper(let path): unsafe calotype_set_wallpaper(path)
        case .openWith(let path): unsafe calotype_open_with(path)
        }
    }

    private func setSlideshow(_ isOn: Bool) {
        slideshow?.cancel()
        guard isOn else { return }
        slideshow = Task { [weak self] in
            while true {
                guard (try? await Task.sleep(for: .seconds(4))) != nil, let self else { return }
                viewer.advanceSlideshow()
                show(nil)
            }
        }
    }

    /// Changes the keys by a file, if it exists; returns a message if it is invalid.
    private static func apply(_ path: String, to map: inout KeyMap) -> String? {
        guard let bytes = try? EncodedBytes(reading: path, first: 1 << 20) else { return nil }
        let text = bytes.withBytes { $0.text(at: 0, byteCount: $0.count) }
        do throws(KeyMap.ParseError) {
            try map.apply(text)
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }
}

/// Returns the value of an environment variable; `nil` if it is empty.
private func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name).map({ unsafe String(cString: $0) }), !value.isEmpty else {
        return nil
    }
    return value
}
#endif
