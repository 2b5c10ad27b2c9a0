// SPDX-License-Identifier: Apache-2.0

/// A text of the viewer, in all languages.
///
/// All texts are in this file. A language is complete, since each text has every one.
package enum ViewerText: Hashable, Sendable {
    /// The description of a command in the list of keys.
    case command(ViewerCommand)
    /// The title of the window.
    case title(name: String, number: Int, count: Int)
    /// The name of a cell for screen readers.
    case cell(name: String, number: Int, count: Int)
    case noImages(folder: String)
    case nothingToUndo
    case isRestored(String)
    case areRestored(count: Int)
    case isInTrash(String)
    case isMoved(String, folder: String)
    case isCopied(String, folder: String)
    case isRenamed(String, to: String)
    case isNoName(String)
    case isWallpaper(String)
    case isInClipboard(String)
    case isTurned(String)
    case isRated(String, Int)
    case slideshow(isOn: Bool)
    case nothingRejected
    case review(count: Int)
    case reviewKeys
    case areInTrash(count: Int)
    case pixels(String, displayed: String)
    case frame(number: Int, count: Int, isPaused: Bool)
    /// The page of a document, or the level of a texture, that is displayed.
    case page(number: Int, count: Int)
    case isIncomplete(String)
    case step(LoadStepName, detail: String, duration: String)
    case profile(String)
    case noMetadata
    /// Why images that are not files are not changed.
    case isReadOnly(FolderKind)
    /// Why images that are not files are not passed to other programs.
    case needsFile(FolderKind)

    /// A step of loading an image.
    package enum LoadStepName: String, Hashable, Sendable {
        case memory, store, shared, load, decode, resample, process, encode
    }

    /// Returns the text in a language.
    package func text(in language: ViewerLanguage) -> String {
        let (english, german) = translations
        return language == .german ? german : english
    }

    private var translations: (english: String, german: String) {
        switch self {
        case .command(let command): Self.translations(of: command)
        case .title(let name, let number, let count):
            ("\(name) – \(number) of \(count)", "\(name) – \(number) von \(count)")
        case .cell(let name, let number, let count):
            ("\(name), \(number) of \(count)", "\(name), \(number) von \(count)")
        case .noImages(let folder): ("no images in \(folder)", "keine Bilder in \(folder)")
        case .nothingToUndo: ("nothing to undo", "nichts rückgängig zu machen")
        case .isRestored(let name): ("\(name) is restored", "\(name) ist wiederhergestellt")
        case .areRestored(let count):
            ("\(count) images are restored", "\(count) Bilder sind wiederhergestellt")
        case .isInTrash(let name):
            (
                "\(name) is in the trash; undo: Ctrl+z",
                "\(name) ist im Papierkorb; rückgängig: Ctrl+z"
            )
        case .isMoved(let name, let folder):
            ("\(name) is moved to \(folder)", "\(name) ist nach \(folder) verschoben")
        case .isCopied(let name, let folder):
            ("\(name) is copied to \(folder)", "\(name) ist nach \(folder) kopiert")
        case .isRenamed(let name, let newName):
            ("\(name) is now \(newName)", "\(name) heißt jetzt \(newName)")
        case .isNoName(let name):
            ("“\(name)” is no file name", "„\(name)“ ist kein Dateiname")
        case .isWallpaper(let name):
            (
                "\(name) is passed to the desktop as the wallpaper",
                "\(name) ist dem Desktop als Hintergrundbild übergeben"
            )
        case .isInClipboard(let name):
            ("\(name) is in the clipboard", "\(name) ist in der Zwischenablage")
        case .isTurned(let name): ("\(name) is turned", "\(name) ist gedreht")
        case .isRated(let name, let rating): Self.rated(name, rating)
        case .slideshow(let isOn):
            isOn
                ? ("the slideshow is on", "die Diaschau läuft")
                : ("the slideshow is off", "die Diaschau ist beendet")
        case .nothingRejected: ("no image is rejected", "kein Bild ist verworfen")
        case .review(let count):
            ("\(count) rejected images", "\(count) verworfene Bilder")
        case .reviewKeys:
            (
                "Return moves them to the trash, Escape keeps them",
                "Return verschiebt sie in den Papierkorb, Escape behält sie"
            )
        case .areInTrash(let count):
            (
                "\(count) images are in the trash; undo: Ctrl+z",
                "\(count) Bilder sind im Papierkorb; rückgängig: Ctrl+z"
            )
        default: otherTranslations
        }
    }

    /// The texts about an image.
    private var otherTranslations: (english: String, german: String) {
        switch self {
        case .pixels(let size, let displayed):
            (
                "\(size) pixels, displayed from \(displayed)",
                "\(size) Pixel, angezeigt aus \(displayed)"
            )
        case .frame(let number, let count, let isPaused):
            (
                "frame \(number) of \(count)" + (isPaused ? ", paused" : ""),
                "Bild \(number) von \(count)" + (isPaused ? ", angehalten" : "")
            )
        case .page(let number, let count):
            ("page \(number) of \(count)", "Seite \(number) von \(count)")
        case .isIncomplete(let reason): ("incomplete: \(reason)", "unvollständig: \(reason)")
        case .step(let name, let detail, let duration):
            (
                "\(name.rawValue): \(detail), \(duration)",
                "\(Self.german(name)): \(detail), \(duration)"
            )
        case .profile(let name):
            ("converted to the monitor profile \(name)", "umgerechnet in das Monitorprofil \(name)")
        case .isReadOnly(.archive):
            (
                "images in an archive are not changed; extract them first",
                "Bilder in einem Archiv werden nicht geändert; zuerst entpacken"
            )
        case .isReadOnly:
            (
                "images on a server are not changed here",
                "Bilder auf einem Server werden hier nicht geändert"
            )
        case .needsFile(.archive):
            (
                "other programs need a file; extract the archive first",
                "andere Programme brauchen eine Datei; zuerst das Archiv entpacken"
            )
        case .needsFile:
            (
                "other programs need a file; download the image first",
                "andere Programme brauchen eine Datei; das Bild zuerst herunterladen"
            )
        default: ("no metadata", "keine Metadaten")
        }
    }

    private static func rated(_ name: String, _ rating: Int) -> (String, String) {
        rating < 0
            ? ("\(name): rejected", "\(name): verworfen")
            : ("\(name): \(rating) of 5 stars", "\(name): \(rating) von 5 Sternen")
    }

    private static func german(_ step: LoadStepName) -> String {
        switch step {
        case .memory: "Speicher"
        case .store: "Ablage"
        case .shared: "geteilt"
        case .load: "laden"
        case .decode: "dekodieren"
        case .resample: "skalieren"
        case .process: "verarbeiten"
        case .encode: "kodieren"
        }
    }

    private static func translations(of command: ViewerCommand) -> (String, String) {
        switch command {
        case .next: ("next image", "nächstes Bild")
        case .previous: ("previous image", "voriges Bild")
        case .up: ("row up; in an image, move up", "Zeile hinauf; im Bild nach oben")
        case .down: ("row down; in an image, move down", "Zeile hinunter; im Bild nach unten")
        case .pageUp: ("page up", "Seite hinauf")
        case .pageDown: ("page down", "Seite hinunter")
        case .first: ("first image", "erstes Bild")
        case .last: ("last image", "letztes Bild")
        case .open: ("open image", "Bild öffnen")
        case .grid: ("grid or image", "Raster oder Bild")
        case .leave: ("leave full screen, image, viewer", "Vollbild, Bild, Betrachter verlassen")
        case .quit: ("quit", "beenden")
        case .fullScreen: ("full screen", "Vollbild")
        case .filmstrip: ("film strip", "Filmstreifen")
        case .slideshow: ("slideshow", "Diaschau")
        case .compare: ("compare 2, 3, 4 images", "2, 3, 4 Bilder vergleichen")
        case .zoomIn: ("enlarge", "vergrößern")
        case .zoomOut: ("reduce", "verkleinern")
        case .zoomFit: ("fit into the window", "ins Fenster einpassen")
        case .zoomFull: ("100 %", "100 %")
        case .pause: ("pause or play", "anhalten oder abspielen")
        case .nextFrame: ("next frame, page or mip level", "nächstes Einzelbild, Seite, Mip-Stufe")
        case .previousFrame:
            ("previous frame, page or mip level", "voriges Einzelbild, Seite, Mip-Stufe")
        case .turnRight: ("turn right", "nach rechts drehen")
        case .turnLeft: ("turn left", "nach links drehen")
        default: changeTranslations(of: command)
        }
    }

    private static func changeTranslations(of command: ViewerCommand) -> (String, String) {
        if let folder = command.moveFolder {
            return ("move to folder \(folder)", "in Ordner \(folder) verschieben")
        }
        if let folder = command.copyFolder {
            return ("copy to folder \(folder)", "in Ordner \(folder) kopieren")
        }
        return switch command {
        case .trash: ("move to the trash", "in den Papierkorb")
        case .undo: ("undo", "rückgängig")
        case .rename: ("rename", "umbenennen")
        case .reject: ("reject", "verwerfen")
        case .rate0: ("remove the rating", "Bewertung entfernen")
        case .rate1: ("1 star", "1 Stern")
        case .rate2, .rate3, .rate4, .rate5:
            ("\(command.rating ?? 0) stars", "\(command.rating ?? 0) Sterne")
        case .review: ("list rejected images", "verworfene Bilder auflisten")
        case .copy: ("copy to the clipboard", "in die Zwischenablage")
        case .print: ("print", "drucken")
        case .wallpaper: ("set as the wallpaper", "als Hintergrundbild verwenden")
        case .openWith: ("open with another program", "mit anderem Programm öffnen")
        case .info: ("properties and histogram", "Eigenschaften und Histogramm")
        case .explain: ("how the image was decoded", "wie das Bild dekodiert wurde")
        default: ("this list", "diese Liste")
        }
    }
}
