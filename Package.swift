// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// One row per C library; its trait turns the code that needs it off where the library is missing.
let cLibraries = [
    CLibrary(trait: "JPEG", link: "jpeg", purpose: "Read and write JPEG with libjpeg-turbo."),
    CLibrary(trait: "PNG", link: "png", purpose: "Read and write PNG with libpng."),
    CLibrary(trait: "ICC", link: "lcms2", purpose: "Convert colours by ICC profile with lcms2."),
]

let package = Package(
    name: "calotype",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Pixels", targets: ["Pixels"]),
        .library(name: "EncodedImages", targets: ["EncodedImages"]),
        .library(name: "ImageCodecs", targets: ["ImageCodecs"]),
        .library(name: "ImageLoading", targets: ["ImageLoading"]),
        .library(name: "ImageServer", targets: ["ImageServer"]),
        .executable(name: "calotype", targets: ["ImageTool"]),
    ],
    traits: Set(
        cLibraries.map { .trait(name: $0.trait, description: $0.purpose) }
            + [.default(enabledTraits: Set(cLibraries.map(\.trait)))]),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: cLibraries.map(\.target) + [
        .target(name: "Pixels", swiftSettings: [.enableExperimentalFeature("Lifetimes")]),
        .target(name: "EncodedImages", dependencies: ["Pixels"]),
        .target(
            name: "ImageCodecs",
            dependencies: ["EncodedImages", "Pixels"] + cLibraries.map(\.dependency),
            exclude: cLibraries.map(\.folder)),
        .target(
            name: "ImageLoading",
            dependencies: [
                "EncodedImages", "Pixels",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "ImageServer",
            dependencies: [
                "EncodedImages", "ImageLoading", "Pixels",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [.embedInCode("Gallery")]),
        .executableTarget(
            name: "ImageTool",
            dependencies: [
                "EncodedImages", "ImageCodecs", "ImageLoading", "ImageServer", "Pixels",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "ImageTesting", dependencies: ["EncodedImages", "Pixels"],
            path: "Tests/ImageTesting"),
        .testTarget(name: "PixelsTests", dependencies: ["ImageTesting", "Pixels"]),
        .testTarget(
            name: "EncodedImagesTests", dependencies: ["EncodedImages", "ImageTesting", "Pixels"]),
        .testTarget(
            name: "ImageCodecsTests",
            dependencies: ["EncodedImages", "ImageCodecs", "ImageTesting", "Pixels"]),
        .testTarget(
            name: "ImageLoadingTests",
            dependencies: ["EncodedImages", "ImageLoading", "ImageTesting", "Pixels"]),
        .testTarget(
            name: "ImageToolTests",
            dependencies: ["EncodedImages", "ImageCodecs", "ImageTesting", "ImageTool", "Pixels"]),
        .testTarget(
            name: "ImageServerTests",
            dependencies: [
                "EncodedImages", "ImageCodecs", "ImageLoading", "ImageServer", "ImageTesting",
                "Pixels", .product(name: "Hummingbird", package: "hummingbird"),
            ]),
    ])

for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .swiftLanguageMode(.v6),
            // Every use of an unsafe construct is marked `unsafe` where it stands.
            .strictMemorySafety(),
            // `any P` shows where a value is boxed.
            .enableUpcomingFeature("ExistentialAny"),
            // A module's imports do not leak to those who import it.
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            // An async function runs where its caller runs; leaving it is said with `@concurrent`.
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}

/// A C library of the system: a target with its shim, in the folder of the code that wraps it.
struct CLibrary {
    /// The trait; also the folder in `Sources/ImageCodecs` and, after a C, the module's name.
    let trait: String
    /// The name that the linker knows it by.
    let link: String
    let purpose: String

    var module: String { "C\(trait)" }
    var folder: String { "\(trait)/\(module)" }
    var target: Target {
        .target(
            name: module, path: "Sources/ImageCodecs/\(folder)",
            linkerSettings: [.linkedLibrary(link)])
    }
    var dependency: Target.Dependency {
        .target(name: module, condition: .when(traits: [trait]))
    }
}
