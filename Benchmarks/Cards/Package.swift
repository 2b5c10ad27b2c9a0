// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "cards-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "calotype", path: "../..")],
    targets: [
        .executableTarget(
            name: "cards-bench",
            dependencies: [
                .product(name: "Drawing", package: "calotype"),
                .product(name: "EncodedImages", package: "calotype"),
                .product(name: "ImageCodecs", package: "calotype"),
                .product(name: "Pixels", package: "calotype"),
            ],
            path: "Sources/CardsBench")
    ])

for target in package.targets {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
