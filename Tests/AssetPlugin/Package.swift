// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package whose asset catalog is compiled by the plugin; `make test-deep` runs its program.
let package = Package(
    name: "asset-plugin-test",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Files of vectors are decoded in a worker process only.
        .package(name: "calotype", path: "../..", traits: [.defaults, "SVG"])
    ],
    targets: [
        .executableTarget(
            name: "ShowAssets",
            dependencies: [
                .product(name: "AssetCatalogs", package: "calotype"),
                .product(name: "ImageCodecs", package: "calotype"),
                .product(name: "Pixels", package: "calotype"),
            ],
            exclude: ["Images.xcassets"],
            plugins: [.plugin(name: "AssetCatalogPlugin", package: "calotype")])
    ])
