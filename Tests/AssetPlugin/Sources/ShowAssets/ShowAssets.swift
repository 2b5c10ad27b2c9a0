// SPDX-License-Identifier: Apache-2.0

import AssetCatalogs
import Foundation
import ImageCodecs
import Pixels

/// Prints each image of the compiled catalog with its size at scale 2 and its first pixel.
@main
struct ShowAssets {
    static func main() throws {
        guard let path = Bundle.module.path(forResource: "Images", ofType: "assets") else {
            throw CocoaError(.fileNoSuchFile)
        }
        let catalog = try CompiledCatalog(mapping: path)
        var screen = AssetTraits()
        screen.scale = 2
        let query = try catalog.query(screen)
        for name in ImageName.allCases {
            guard let slot = try catalog.slot(.image, name.rawValue, for: query) else { continue }
            let image = try catalog.image(of: slot, codecs: builtInCodecs)
            let row = image.row(0)
            let pixel = (0..<3).map { row[$0] }
            print(name, image.size.width, image.size.height, pixel)
        }
    }
}
