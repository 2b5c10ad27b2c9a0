// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "effects-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "calotype", path: "../..")],
    targets: [
        .executableTarget(
            name: "effects-bench",
            dependencies: [
                .product(name: "Effects", package: "calotype"),
                .product(name: "Pixels", package: "calotype"),
            ],
            path: "Sources/EffectsBench")
    ])

for target in package.targets {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
