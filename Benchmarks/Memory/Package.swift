// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own, so that nobody who uses the library builds it.
let package = Package(
    name: "memory-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "calotype", path: "../..")],
    targets: [
        .target(name: "CAllocationCount"),
        .executableTarget(
            name: "memory-bench",
            dependencies: [
                "CAllocationCount",
                .product(name: "EncodedImages", package: "calotype"),
                .product(name: "ImageLoading", package: "calotype"),
                .product(name: "Pixels", package: "calotype"),
            ],
            path: "Sources/MemoryBench"),
    ])

for target in package.targets {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
