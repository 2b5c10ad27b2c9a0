// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension Viewer {
    /// Performs a command.
    ///
    /// - Returns: what the window does in addition to drawing.
    package mutating func perform(_ command: ViewerCommand) -> [Effect] {
        if review != nil, let effects = performInReview(command) { return effects }
        if kind != .files, let refusal = refusal(of: command) { return [.message(refusal)] }
        switch command {
        case .quit: return [.close]
        case .leave: return leave()
        case .fullScreen:
            isFullScreen.toggle()
            return [.fullScreen(isFullScreen)]
        case .open: if let index = list.currentIndex { open(index) }
        case .grid:
            guard mode == .grid else { return showGrid() }
            return perform(.open)
        case .next, .previous, .up, .down, .pageUp, .pageDown, .first, .last: move(command)
        case .zoomIn, .zoomOut, .zoomFit, .zoomFull: zoom(command)
        case .keys, .explain, .info, .filmstrip, .compare: changePanels(command)
        case .slideshow: return startSlideshow(!isSlideshow)
        case .pause, .nextFrame, .previousFrame: return play(command)
        case .trash: return trash()
        case .undo: return undo()
        case .rename: return list.current.map { [.askForName($0)] } ?? []
        case .turnRight, .turnLeft: return turn(clockwise: command == .turnRight)
        case .review: return startReview()
        case .copy:
            return list.current.map { [.copy(path($0)), .message(.isInClipboard($0))] } ?? []
        case .openWith: return list.current.map { [.openWith(path($0))] } ?? []
        case .print: return list.current.map { [.print($0)] } ?? []
        case .wallpaper: return list.current.map { [.setWallpaper(path($0))] } ?? []
        default: return change(command)
        }
        return []
    }

    /// Returns why a command is not performed on images that are not files; `nil` if it is performed.
    private func refusal(of command: ViewerCommand) -> ViewerText? {
        switch command {
        case .trash, .rename, .turnLeft, .turnRight, .review: .isReadOnly(kind)
        case .copy, .openWith, .wallpaper: .needsFile(kind)
        default:
            command.rating != nil || command.moveFolder != nil || command.copyFolder != nil
                ? .isReadOnly(kind) : nil
        }
    }

    /// Performs the commands of ratings and of numbered folders.
    private mutating func change(_ command: ViewerCommand) -> [Effect] {
        if let rating = command.rating { return rate(rating) }
        if let folder = command.moveFolder { return move(into: folder) }
        if let folder = command.copyFolder { return copy(into: folder) }
        return []
    }

    /// Shows the next image of a slideshow, the first after the last.
    package mutating func advanceSlideshow() {
        guard let index = list.currentIndex else { return }
        select(index + 1 < list.count ? index + 1 : 0)
    }

    private mutating func changePanels(_ command: ViewerCommand) {
        switch command {
        case .keys: showsKeys.toggle()
        case .explain: explains.toggle()
        case .info: showsInfo.toggle()
        case .filmstrip: showsFilmstrip.toggle()
        default:
            guard mode == .single else { return }
            comparedCount = comparedCount == 4 ? 1 : comparedCount + 1
        }
        updateLayout()
    }

    private mutating func startSlideshow(_ isOn: Bool) -> [Effect] {
        guard isOn != isSlideshow, list.count > 0 else { return [] }
        isSlideshow = isOn
        if isOn, mode == .grid, let index = list.currentIndex { open(index) }
        return [.slideshow(isOn), .message(.slideshow(isOn: isOn))]
    }

    private mutating func play(_ command: ViewerCommand) -> [Effect] {
        guard mode == .single else { return [] }
        isPlaying = command == .pause ? !isPlaying : false
        return command == .pause
            ? [.play(isPlaying)] : [.step(command == .nextFrame ? 1 : -1)]
    }

    private mutating func leave() -> [Effect] {
        if showsKeys {
            showsKeys = false
        } else if isSlideshow {
            return startSlideshow(false)
        } else if isFullScreen {
            isFullScreen = false
            return [.fullScreen(false)]
        } else if comparedCount > 1 {
            comparedCount = 1
            updateLayout()
        } else if mode == .single {
            return showGrid()
        } else {
            return [.close]
        }
        return []
    }

    private mutating func showGrid() -> [Effect] {
        let effects = startSlideshow(false)
        mode = .grid
        comparedCount = 1
        updateLayout()
        return effects
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

    /// Moves an image that is higher than its part of the window; returns whether it is.
    private mutating func pan(_ command: ViewerCommand) -> Bool {
        guard let placement, placement.height > Double(placement.view.height) else { return false }
        let distance = Double(placement.view.height) / 4
        place { $0.pan(byX: 0, y: command == .up ? distance : -distance) }
        return true
    }

    private mutating func zoom(_ command: ViewerCommand) {
        place { placement in
            let (x, y) = (Double(placement.view.width) / 2, Double(placement.view.height) / 2)
            switch command {
            case .zoomIn: placement.zoom(to: placement.scale * 1.25, atX: x, y: y)
            case .zoomOut: placement.zoom(to: placement.scale / 1.25, atX: x, y: y)
            case .zoomFull: placement.zoom(to: 1, atX: x, y: y)
            default: placement.fit()
            }
        }
    }
}
