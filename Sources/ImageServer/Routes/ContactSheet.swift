// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Sprites
internal import Pixels

/// The HTML page that shows the images of a sprite sheet with their names.
enum ContactSheet {
    /// Returns the page for a sheet with the URL `sheet`.
    static func page(_ index: SpriteIndex, sheet: String) -> String {
        let cells = index.sprites.map { sprite in
            let place = sprite.place
            return "<li><i style=\"width:\(place.width)px;height:\(place.height)px;"
                + "background-position:-\(place.x)px -\(place.y)px\"></i>"
                + "<span>\(sprite.name.markupEscaped)</span></li>"
        }
        return """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>Contact sheet</title>
            <style>body{font:14px system-ui;margin:1rem;background:Canvas;color:CanvasText;\
            color-scheme:light dark}ul{display:flex;flex-wrap:wrap;gap:1rem;padding:0;margin:0}\
            li{list-style:none;text-align:center}span{display:block;max-width:16rem;\
            overflow-wrap:anywhere}i{display:inline-block;background-image:url('\(quoted(sheet))')}\
            </style><ul>\(cells.joined())</ul></html>

            """
    }

    /// A URL in quotes in a style sheet, where HTML replaces no entities.
    private static func quoted(_ url: String) -> String {
        // By scalars: a combining mark would hide the quote before it.
        url.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "<": result += "%3C"
            case "'": result += "%27"
            case "\\": result += "%5C"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
