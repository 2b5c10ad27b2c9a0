// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own, so that nobody who uses the library builds the peers that it is compared
// with. Build it with `-Xswiftc -enable-testing`: it takes rows where the codecs hand them on.
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
