// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A separate package, so that tests do not build it. Build it with `-Xswiftc -enable-testing`: it
// accesses internal declarations of the codecs.
let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "calotype", path: "..")],
    targets: [
        // A link to Tests/ImageTesting.
        .target(name: "ImageTesting", dependencies: calotype("EncodedImages", "Pixels")),
        // Mutates files and decodes them; see scripts/fuzz.
        .executableTarget(
            name: "JPEGFuzzer",
            dependencies: ["ImageTesting"] + calotype("EncodedImages", "ImageCodecs", "Pixels")),
        .executableTarget(
            name: "CodecFuzzer",
            dependencies: ["ImageTesting"] + calotype("EncodedImages", "ImageCodecs", "Pixels")),
        .executableTarget(
            name: "CatalogFuzzer",
            dependencies: ["ImageTesting"]
                + calotype("AssetCatalogs", "EncodedImages", "ImageCodecs")),
        // Decodes mutated files in a sandbox; see scripts/test-sandbox.
        .executableTarget(
            name: "SandboxFuzzer",
            dependencies: ["ImageTesting"]
                + calotype("DecoderSandbox", "EncodedImages", "ImageCodecs", "Pixels")),
    ])

for target in package.targets {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}

func calotype(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "calotype") }
}
