// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import Dispatch
internal import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import ImageCommands
internal import ImageLoading
internal import LoadScheduling
internal import Pixels
internal import ViewerModel

/// The window: it passes events to the model, loads the images that the model shows, and draws.
@MainActor
final class ViewerWindow {
    /// A cell of the grid while it is visible.
    struct Cell {
        /// The image, or a draft of it until the cell is complete.
        var texture: Texture?
        var failure: String?
        /// Whether the image was loaded, or cannot be.
        var isComplete = false
        var load: Task<Void, Never>?
    }

    var viewer: Viewer
    var cells: [ComparedByBytes: Cell] = [:]
    /// The images that are displayed alone or compared.
    var shown: [ShownImage] = []
    let loads: ImageLoads
    var placeholders: CellPlaceholders
    let keyMap: KeyMap
    let language: ViewerLanguage
    /// The colours of the current frame.
    var palette = Palette.dark
    var message: String?
    var accessibleState: AccessibleState?
    var hold: Task<Void, Never>?
    var printing: Task<Void, Never>?
    var isHolding = false
    var dragged = 0.0
    var typed = ""
    var typedAt = 0.0
    let measurement: Measurement?
    let size: PixelSize
    private var slideshow: Task<Void, Never>?
    private var lastFrame: Double?
    private var listing: Task<Void, Never>?
    private let engine: ImageEngine
    private var watchSource: (any DispatchSourceRead)?

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
        viewer = Viewer(
            folder: path.folder, first: path.file, kind: path.kind,
            editor: FolderEditor(trashFolder: "\(data)/Trash"),
            isRightToLeft: ViewerLanguage.isRightToLeft(locale: locale))
        var map = KeyMap()
        let configuration = environmentValue("XDG_CONFIG_HOME") ?? "\(home)/.config"
        message = Self.apply("\(configuration)/calotype/keys", to: &map)
        keyMap = map
        let engine = ImageEngine.start(cacheFolder: "\(cache)/calotype")
        self.engine = engine
        let folder = try path.open(
            extensions: imageExtensions, transport: engine.connections)
        loads = ImageLoads(engine, folder)
        placeholders = CellPlaceholders(engine, Self.thumbnails, folder)
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
            for task in [listing, slideshow, hold, printing] { task?.cancel() }
            placeholders.stop()
            engine.drafts.stop()
            watchSource?.cancel()
            loads.close()
            engine.connections.close()
        }
        startListing()
        var events = unsafe calotype_window_events()
        unsafe events.context = Unmanaged.passUnretained(self).toOpaque()
        unsafe setHandlers(&events)
        unsafe calotype_window_run(
            &events, title, Int32(size.width), Int32(size.height))
    }

    /// Displays an image or a folder that another process was started for.
    ///
    /// - Throws: ``FileFailure``; the window then stays as it is.
    func open(_ path: OpenedPath) throws(FileFailure) {
        let isOther = !viewer.folder.utf8.elementsEqual(path.folder.utf8)
        let folder =
            isOther
            ? try path.open(
                extensions: imageExtensions, transport: engine.connections) : loads.folder
        setSlideshow(false)
        message = nil
        viewer.show(path.file, in: path.folder, kind: path.kind)
        if isOther {
            listing?.cancel()
            watchSource?.cancel()
            watchSource = nil
            placeholders.stop()
            loads.endPrefetching()
            endShown()
            endCells()
            loads.folder = folder
            placeholders = CellPlaceholders(engine, Self.thumbnails, folder)
            startListing()
        }
        change()
    }

    /// The thumbnails that file managers share.
    private static var thumbnails: ThumbnailCache? { ThumbnailCache(ofUser: environmentValue) }

    /// Lists the folder, after the opened image is displayed, and follows its changes.
    private func startListing() {
        loadShown()
        followFolder()
        listing = Task { [weak self, folder = loads.folder] in
            // Merging many names would delay the first frame with the image, whose load starts again
            // when the window gets its size.
            for _ in 0..<4 where self?.current?.loaded == nil { await self?.current?.load?.value }
            do {
                for try await names in folder.names() {
                    guard let self, !Task.isCancelled else { return }
                    self.viewer.add(names)
                    self.change()
                    await self.placeholders.read(names)
                }
            } catch {
                guard let self, !Task.isCancelled else { return }
                self.message = "\(error)"
                self.change()
            }
        }
    }

    /// Shows what other programs change in the folder.
    private func followFolder() {
        guard viewer.kind == .files, let watch = FolderWatch(viewer.folder) else { return }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: watch.descriptor, queue: .main)
        source.setEventHandler { [weak self] in
            MainActor.assumeIsolated { self?.take(watch.changes()) }
        }
        source.activate()
        watchSource = source
    }

    private func take(_ changes: FolderWatch.Changes) {
        if changes.isIncomplete { return listAgain() }
        let extensions = imageExtensions
        viewer.removeMissing(changes.removed)
        let written = changes.written.filter { isImageName($0, extensions) }
        for name in changes.written + changes.removed { viewer.forgetRating(name) }
        // The pixels of a file that was written again are out of date.
        for name in written { forget(name) }
        if !written.isEmpty { viewer.add(written) }
        change()
    }

    /// Drops the pixels of an image.
    private func forget(_ name: String) {
        loads.pipeline.removeFromMemory(viewer.path(name))
        placeholders.remove(name)
        cells[ComparedByBytes(name)]?.load?.cancel()
        cells[ComparedByBytes(name)] = nil
        for image in shown where image.isNamed(name) { image.stop() }
        shown.removeAll { $0.isNamed(name) }
    }

    /// Lists the folder again, after changes were lost.
    private func listAgain() {
        listing?.cancel()
        listing = Task { [weak self, folder = loads.folder] in
            var all: [String] = []
            do {
                for try await names in folder.names() { all += names }
            } catch {
                return
            }
            guard let self, !Task.isCancelled else { return }
            endShown()
            endCells()
            for name in all { loads.pipeline.removeFromMemory(viewer.path(name)) }
            viewer.replaceList(all)
            change()
            await placeholders.read(all)
        }
    }

    /// Loads what has become visible, and draws.
    func change() {
        if viewer.mode == .single {
            loads.stopPrefetching()
            if viewer.filmstrip == nil { endCellLoads() }
            loadShown()
        } else {
            endShown()
        }
        unsafe calotype_window_set_title(title)
        calotype_window_redraw()
    }

    /// Draws a frame; returns whether another follows.
    func draw(at seconds: Double, _ size: PixelSize, density: Int) -> Bool {
        if viewer.view != size {
            viewer.resize(to: size, density: density)
            loads.resize(to: size)
            loadShown()
        }
        viewer.motion.advance(by: min(0.1, seconds - (lastFrame ?? seconds)))
        measurement?.scroll(&viewer, at: seconds)
        let isMoving = viewer.mode == .grid && viewer.motion.isMoving
        lastFrame = isMoving ? seconds : nil
        drawContent()
        let continues = measurement?.note(self, at: seconds) ?? false
        return isMoving || continues
    }

    func perform(_ command: ViewerCommand) {
        let effects = viewer.perform(command)
        // A folder that is followed reports which files were written.
        if watchSource == nil, [.turnLeft, .turnRight, .undo].contains(command),
            let name = viewer.list.current
        {
            forget(name)
        }
        perform(effects)
    }

    func perform(_ effects: [Viewer.Effect]) {
        message = nil
        for effect in effects { perform(effect) }
        change()
    }

    private func perform(_ effect: Viewer.Effect) {
        switch effect {
        case .close: calotype_window_close()
        case .fullScreen(let isFull): calotype_window_set_full_screen(isFull)
        case .message(let text): message = self.text(text)
        case .failure(let text): message = text
        case .play(let isPlaying):
            for player in shown.compactMap(\.player) {
                if isPlaying { player.play() } else { player.pause() }
            }
        case .step(let count): step(count)
        case .slideshow(let isOn): setSlideshow(isOn)
        case .copy(let path):
            unsafe calotype_clipboard_set_file(FileURI(path)?.text ?? path, path)
        case .askForName(let name):
            // The extension is kept unless the user changes it.
            let stem = splitExtension(name).name
            unsafe calotype_ask_for_name(
                text(.command(.rename)), name, Int32(stem.unicodeScalars.count))
        case .print(let name): print(name)
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
                message = nil
                viewer.advanceSlideshow()
                change()
            }
        }
    }

    private var title: String {
        guard let name = viewer.list.current, let index = viewer.list.currentIndex else {
            return viewer.folder
        }
        let title = text(.title(name: name, number: index + 1, count: viewer.list.count))
        guard viewer.mode == .single, let page = current?.page, page.count > 1 else { return title }
        return "\(title), \(text(page.label))"
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
