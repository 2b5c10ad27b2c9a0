// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A separate package, so that clients of the library do not build the peers. Build it with
// `-Xswiftc -enable-testing`: it accesses internal declarations of the codecs.
let package = Package(
    name: "decoding-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "calotype", path: "../..")],
    targets: [
        .target(name: "CLibJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CLibPNG", linkerSettings: [.linkedLibrary("png")]),
        .executableTarget(
            name: "decode-bench",
            dependencies: [
                "CLibJPEG", "CLibPNG",
                .product(name: "EncodedImages", package: "calotype"),
                .product(name: "ImageCodecs", package: "calotype"),
                .product(name: "Pixels", package: "calotype"),
            ],
            path: "Sources/DecodeBench"),
    ])

for target in package.targets {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
