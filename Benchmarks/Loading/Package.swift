// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A separate package, so that clients of the library do not build it.
let package = Package(
    name: "loading-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "calotype", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    ],
    targets: [
        .target(name: "CAllocationCount"),
        .executableTarget(
            name: "loading-bench",
            dependencies: [
                "CAllocationCount",
                .product(name: "EncodedImages", package: "calotype"),
                .product(name: "ImageCodecs", package: "calotype"),
                .product(name: "ImageLoading", package: "calotype"),
                .product(name: "LoadScheduling", package: "calotype"),
                .product(name: "Pixels", package: "calotype"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/LoadingBench"),
        // Measures a large store.
        .executableTarget(
            name: "store-bench",
            dependencies: [
                .product(name: "ImageLoading", package: "calotype"),
                .product(name: "Pixels", package: "calotype"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/StoreBench"),
        // Measures the overhead of the sandbox.
        .executableTarget(
            name: "sandbox-bench",
            dependencies: [
                .product(name: "DecoderSandbox", package: "calotype"),
                .product(name: "EncodedImages", package: "calotype"),
                .product(name: "ImageCodecs", package: "calotype"),
                .product(name: "Pixels", package: "calotype"),
            ],
            path: "Sources/SandboxBench"),
    ])

for target in package.targets {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
