// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// One row per C library; its trait turns the code that needs it off where the library is missing.
let cLibraries = [
    CLibrary(trait: "JPEG", links: ["jpeg"], purpose: "Read and write JPEG with libjpeg-turbo."),
    CLibrary(
        trait: "PNG", links: ["z"], purpose: "Read PNG, and write it with libpng.",
        accelerator: .init(
            trait: "ISAL", link: "isal", purpose: "Inflate PNG with ISA-L, twice as fast as zlib.")),
    CLibrary(
        trait: "WebP", links: [],
        purpose: "Read and write WebP with libwebp."),
    CLibrary(trait: "TIFF", links: [], purpose: "Read and write TIFF with libtiff."),
    CLibrary(trait: "AVIF", links: [], purpose: "Read and write AVIF with libavif."),
    CLibrary(trait: "HEIF", links: [], purpose: "Read HEIC with libheif."),
    CLibrary(trait: "JPEGXL", links: [], purpose: "Read and write JPEG XL with libjxl."),
    CLibrary(
        trait: "JPEG2000", links: [], purpose: "Read and write JPEG 2000 with OpenJPEG."),
    CLibrary(
        trait: "RAW", links: [], purpose: "Read the files of camera sensors with LibRaw."),
    CLibrary(
        trait: "SVG", links: [], purpose: "Draw SVG with librsvg, in a sandbox.", isDefault: false),
    CLibrary(
        trait: "PDF", links: [],
        purpose: "Draw the first page of PDF with poppler (GPL), in a sandbox.", isDefault: false),
    CLibrary(
        trait: "Zstandard", links: [],
        purpose: "Read KTX 2 textures that are compressed with Zstandard."),
    CLibrary(trait: "ICC", links: [], purpose: "Convert colours by profile with lcms2."),
    CLibrary(
        trait: "Drawing", links: [], purpose: "Draw paths and text with cairo and Pango.",
        home: "Drawing"),
]
/// The modules that share the memory of images with objects of other libraries.
///
/// The libraries are loaded when they are first needed, so that no trait is required.
let adapters = ["Cairo", "DLPack", "GDK", "GStreamer"].map { "\($0)Interop" }
let adapterTargets = adapters.flatMap { name -> [Target] in
    [
        .target(
            name: "C\(name)", dependencies: ["CLazyLibrary"], path: "Sources/\(name)/C\(name)"),
        .target(
            name: name, dependencies: ["Pixels", .target(name: "C\(name)")],
            exclude: ["C\(name)"]),
    ]
}
let codecLibraries = cLibraries.filter { $0.home == nil }

let package = Package(
    name: "calotype",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Pixels", targets: ["Pixels"]),
        .library(name: "Effects", targets: ["Effects"]),
        .library(name: "Drawing", targets: ["Drawing"]),
        .library(name: "EncodedImages", targets: ["EncodedImages"]),
        .library(name: "ImageCodecs", targets: ["ImageCodecs"]),
        .library(name: "LoadScheduling", targets: ["LoadScheduling"]),
        .library(name: "HTTPCaching", targets: ["HTTPCaching"]),
        .library(name: "Placeholders", targets: ["Placeholders"]),
        .library(name: "Textures", targets: ["Textures"]),
        .library(name: "Sprites", targets: ["Sprites"]),
        .library(name: "AssetCatalogs", targets: ["AssetCatalogs"]),
        .library(name: "AssetLoading", targets: ["AssetLoading"]),
        .library(name: "CairoInterop", targets: ["CairoInterop"]),
        .library(name: "DLPackInterop", targets: ["DLPackInterop"]),
        .library(name: "GDKInterop", targets: ["GDKInterop"]),
        .library(name: "GStreamerInterop", targets: ["GStreamerInterop"]),
        .plugin(name: "AssetCatalogPlugin", targets: ["AssetCatalogPlugin"]),
        .library(name: "ImageLoading", targets: ["ImageLoading"]),
        .library(name: "HTTPLoading", targets: ["HTTPLoading"]),
        .library(name: "ImageServer", targets: ["ImageServer"]),
        .library(name: "DecoderSandbox", targets: ["DecoderSandbox"]),
        .executable(name: "calotype", targets: ["Calotype"]),
        .executable(name: "calotype-server", targets: ["CalotypeServer"]),
        .executable(name: "calotype-decoder", targets: ["DecoderWorker"]),
        .executable(name: "calotype-thumbnailer", targets: ["Thumbnailer"]),
        .executable(name: "calotype-assets", targets: ["AssetTool"]),
        .executable(name: "calotype-viewer", targets: ["ViewerGTK"]),
    ],
    traits: Set(
        cLibraries.flatMap(\.traits)
            + [
                .trait(
                    name: "Viewer",
                    description: "Build calotype-viewer, the viewer in a window of GTK 4."),
                .trait(
                    name: "HTTPS",
                    description: "Load images over HTTP and HTTPS, and serve HTTPS and HTTP/2."),
                .trait(
                    name: "Local",
                    description: "All default traits except HTTPS, which takes long to build.",
                    enabledTraits: Set(
                        cLibraries.filter(\.isDefault).flatMap(\.traits).map(\.name))),
                .default(enabledTraits: ["HTTPS", "Local"]),
            ]),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: cLibraries.map(\.target) + adapterTargets + [
        .target(name: "CLazyLibrary", path: "Sources/ImageCodecs/LazyLibrary/CLazyLibrary"),
        .target(name: "CFileMapping", path: "Sources/Pixels/CFileMapping"),
        .target(
            name: "Pixels", dependencies: ["CFileMapping"], exclude: ["CFileMapping"],
            swiftSettings: [.enableExperimentalFeature("Lifetimes")]),
        .target(name: "Effects", dependencies: ["Pixels"]),
        .target(
            name: "Drawing",
            dependencies: ["Effects", "EncodedImages", "Pixels"]
                + cLibraries.filter { $0.home == "Drawing" }.map(\.dependency),
            exclude: ["CDrawing"]),
        .target(name: "EncodedImages", dependencies: ["Pixels"]),
        .target(name: "Textures", dependencies: ["EncodedImages", "Pixels"]),
        .target(
            name: "ImageCodecs",
            dependencies: ["Drawing", "EncodedImages", "Pixels", "Textures"]
                + codecLibraries.map(\.dependency),
            exclude: codecLibraries.map(\.folder) + ["LazyLibrary/CLazyLibrary"]),
        .target(name: "Placeholders", dependencies: ["EncodedImages", "Pixels"]),
        .target(name: "Sprites", dependencies: ["EncodedImages", "Pixels"]),
        .target(name: "AssetCatalogs", dependencies: ["EncodedImages", "Pixels"]),
        .target(
            name: "CInflate", dependencies: ["CLazyLibrary"], path: "Sources/Archives/CInflate"),
        .target(
            name: "Archives", dependencies: ["CInflate", "EncodedImages"], exclude: ["CInflate"]),
        .target(name: "LoadScheduling", dependencies: ["EncodedImages"]),
        .target(
            name: "DiskStore",
            dependencies: [
                "EncodedImages", "LoadScheduling",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "HTTPCaching",
            dependencies: [
                "DiskStore", "EncodedImages", "LoadScheduling",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "ImageLoading",
            dependencies: [
                "DiskStore", "Effects", "EncodedImages", "HTTPCaching", "LoadScheduling", "Pixels",
                "Placeholders",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ]),
        // A target of its own, so that programs without catalogs do not build them.
        .target(
            name: "AssetLoading",
            dependencies: ["AssetCatalogs", "EncodedImages", "ImageLoading", "Pixels"]),
        .target(
            name: "CSandbox", path: "Sources/DecoderSandbox/CSandbox",
            linkerSettings: [.linkedLibrary("seccomp")]),
        .target(
            name: "DecoderSandbox", dependencies: ["CSandbox", "EncodedImages", "Pixels"],
            exclude: ["CSandbox"]),
        // The process in which images are decoded; it is in the directory of the programs that start it.
        .executableTarget(
            name: "DecoderWorker", dependencies: ["DecoderSandbox", "ImageCodecs"]),
        .target(
            name: "CMessageDigests", path: "Sources/MessageDigests/CMessageDigests",
            linkerSettings: [.linkedLibrary("crypto"), .linkedLibrary("crypt")]),
        .target(
            name: "MessageDigests", dependencies: ["CMessageDigests"],
            exclude: ["CMessageDigests"]),
        // A target of its own, so that programs that read local files do not build TLS.
        .target(
            name: "HTTPLoading",
            dependencies: [
                "HTTPCaching", "LoadScheduling", "MessageDigests",
                .product(
                    name: "AsyncHTTPClient", package: "async-http-client",
                    condition: .when(traits: ["HTTPS"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .target(name: "CServedFiles", path: "Sources/ServedFiles/CServedFiles"),
        .target(
            name: "ServedFiles", dependencies: ["CServedFiles"],
            exclude: ["CServedFiles", "Description", "Gallery"]),
        .target(
            name: "PhotoLibrary",
            dependencies: [
                "DiskStore", "EncodedImages", "ImageLoading", "LoadScheduling", "Pixels",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "ImageServer",
            dependencies: [
                "AssetCatalogs", "Drawing", "Effects", "EncodedImages", "HTTPCaching",
                "ImageLoading",
                "LoadScheduling", "MessageDigests", "PhotoLibrary", "Pixels", "Placeholders",
                "ServedFiles", "Sprites",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(
                    name: "HummingbirdHTTP2", package: "hummingbird",
                    condition: .when(traits: ["HTTPS"])),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(
                    name: "NIOSSL", package: "swift-nio-ssl",
                    condition: .when(traits: ["HTTPS"])),
                .product(
                    name: "NIOTLS", package: "swift-nio", condition: .when(traits: ["HTTPS"])),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]),
        // What the two programs of the command have in common.
        .target(
            name: "ImageCommands",
            dependencies: [
                "DecoderSandbox", "Drawing", "Effects", "EncodedImages", "ImageCodecs", "Pixels",
                "Textures",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "Calotype",
            dependencies: [
                "ImageCommands",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // The interface in C. scripts/c-library links it as a shared library.
        .target(name: "CCalotype", path: "Sources/CLibrary/CCalotype"),
        .target(
            name: "CLibrary",
            dependencies: [
                "CCalotype", "DecoderSandbox", "EncodedImages", "ImageCodecs", "Pixels",
            ],
            exclude: ["CCalotype", "calotype.pc.in", "libcalotype.map"]),
        // The state of the viewer, without a window.
        .target(
            name: "ViewerModel",
            dependencies: [
                "Archives", "EncodedImages", "HTTPCaching", "ImageCommands", "ImageLoading",
                "LoadScheduling", "Pixels", "Placeholders",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .target(
            name: "CGTK", path: "Sources/ViewerGTK/CGTK",
            cSettings: [.define("CALOTYPE_VIEWER", .when(traits: ["Viewer"]))],
            linkerSettings: [
                "gtk-4", "pango-1.0", "cairo", "gobject-2.0", "gio-2.0", "glib-2.0", "X11",
            ].map {
                .linkedLibrary($0, .when(traits: ["Viewer"]))
            }),
        // The viewer in a window; without its trait, a program that reports that it is missing.
        .executableTarget(
            name: "ViewerGTK",
            dependencies: [
                "CGTK", "DecoderSandbox", "EncodedImages", "HTTPCaching", "HTTPLoading",
                "ImageCodecs", "ImageCommands", "ImageLoading", "LoadScheduling", "Pixels",
                "Placeholders", "ViewerModel",
                .product(name: "Logging", package: "swift-log"),
            ], exclude: ["CGTK"]),
        // The program that file managers execute for each image without a thumbnail.
        .executableTarget(name: "Thumbnailer", dependencies: ["ImageCommands"]),
        // A program of its own, so that the command stays small and `make run` does not build it.
        .executableTarget(
            name: "AssetTool",
            dependencies: [
                "AssetCatalogs", "DecoderSandbox", "EncodedImages", "ImageCommands",
                "MessageDigests", "Pixels", "Placeholders",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // Compiles the asset catalogs of packages that use it.
        .plugin(
            name: "AssetCatalogPlugin", capability: .buildTool(),
            dependencies: ["AssetTool", "DecoderWorker"]),
        .executableTarget(
            name: "CalotypeServer",
            dependencies: [
                "AssetCatalogs", "DecoderSandbox", "Effects", "EncodedImages", "HTTPCaching",
                "HTTPLoading", "ImageCodecs", "ImageLoading", "ImageServer", "LoadScheduling",
                "ImageCommands", "MessageDigests", "Pixels", "Textures",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.embedInCode("Bench/Scroll/Traces")]),
        .target(
            name: "ImageTesting", dependencies: ["EncodedImages", "Pixels"],
            path: "Tests/ImageTesting"),
        .target(
            name: "HTTPTesting",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], path: "Tests/HTTPTesting"),
        .testTarget(name: "PixelsTests", dependencies: ["ImageTesting", "Pixels"]),
        .testTarget(
            name: "InteropTests",
            dependencies: adapters.map { .target(name: $0) }
                + ["CLazyLibrary", "ImageTesting", "Pixels"]),
        .testTarget(name: "EffectsTests", dependencies: ["Effects", "ImageTesting", "Pixels"]),
        .testTarget(
            name: "TexturesTests",
            dependencies: ["EncodedImages", "ImageCodecs", "ImageTesting", "Pixels", "Textures"]),
        .testTarget(
            name: "DrawingTests",
            dependencies: ["Drawing", "Effects", "ImageTesting", "Pixels", "TestHelper"]),
        .testTarget(
            name: "EncodedImagesTests",
            dependencies: ["EncodedImages", "ImageTesting", "Pixels", "TestHelper"]),
        .testTarget(
            name: "ImageCodecsTests",
            dependencies: [
                "CLazyLibrary", "EncodedImages", "ImageCodecs", "ImageTesting", "Pixels",
                "TestHelper",
            ]),
        // A network of scripted responses, and damage to stores.
        .target(
            name: "LoadingTesting",
            dependencies: [
                "EncodedImages", "HTTPCaching", "ImageTesting", "LoadScheduling", "Pixels",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ], path: "Tests/LoadingTesting"),
        .testTarget(
            name: "PlaceholdersTests",
            dependencies: [
                "EncodedImages", "ImageCodecs", "ImageTesting", "Pixels", "Placeholders",
            ]),
        .testTarget(
            name: "SpritesTests",
            dependencies: ["EncodedImages", "ImageCodecs", "ImageTesting", "Pixels", "Sprites"]),
        .testTarget(
            name: "LoadSchedulingTests",
            dependencies: ["ImageTesting", "LoadScheduling", "LoadingTesting"]),
        .testTarget(
            name: "HTTPCachingTests",
            dependencies: [
                "EncodedImages", "HTTPCaching", "ImageTesting", "LoadScheduling",
                "LoadingTesting",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "ImageLoadingTests",
            dependencies: [
                "DiskStore", "Effects", "EncodedImages", "HTTPCaching", "ImageCodecs",
                "ImageLoading",
                "ImageTesting", "LoadScheduling", "LoadingTesting", "Pixels", "Placeholders",
                "Sprites", "TestHelper",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "DecoderSandboxTests",
            dependencies: [
                "DecoderSandbox", "Drawing", "EncodedImages", "ImageCodecs", "ImageLoading",
                "ImageTesting",
                "LoadScheduling", "Pixels", "TestHelper",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The processes that tests start, to kill them or to look at their memory; no product.
        .executableTarget(
            name: "TestHelper",
            dependencies: [
                "DecoderSandbox", "Drawing", "EncodedImages", "ImageCodecs", "ImageLoading",
                "ImageTesting", "Pixels",
                .product(name: "Logging", package: "swift-log"),
            ], path: "Tests/TestHelper"),
        .testTarget(
            name: "PhotoLibraryTests",
            dependencies: [
                "EncodedImages", "ImageLoading", "ImageTesting", "LoadingTesting", "PhotoLibrary",
                "Pixels",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "AssetCatalogsTests",
            dependencies: [
                "AssetCatalogs", "AssetTool", "EncodedImages", "ImageCodecs", "ImageCommands",
                "ImageTesting", "Pixels",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(
            name: "AssetLoadingTests",
            dependencies: [
                "AssetCatalogs", "AssetLoading", "EncodedImages", "ImageCodecs", "ImageLoading",
                "ImageTesting", "Pixels",
            ]),
        .testTarget(name: "MessageDigestsTests", dependencies: ["MessageDigests"]),
        .testTarget(
            name: "HTTPLoadingTests",
            dependencies: [
                "EncodedImages", "HTTPCaching", "HTTPLoading", "HTTPTesting", "LoadScheduling",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "CalotypeServerTests",
            dependencies: [
                "Calotype", "Effects", "EncodedImages", "ImageCodecs", "ImageLoading",
                "ImageTesting", "CalotypeServer", "ImageCommands", "Pixels", "Thumbnailer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(
            name: "ViewerModelTests",
            dependencies: [
                "EncodedImages", "HTTPCaching", "ImageCodecs", "ImageCommands", "ImageLoading",
                "ImageTesting", "LoadScheduling", "LoadingTesting", "Pixels", "Placeholders",
                "ViewerModel",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "ArchivesTests", dependencies: ["Archives", "EncodedImages", "ImageTesting"]),
        .testTarget(
            name: "ImageServerTests",
            dependencies: [
                "AssetCatalogs", "Drawing", "Effects", "EncodedImages", "HTTPCaching",
                "HTTPLoading", "HTTPTesting",
                "ImageCodecs",
                "ImageLoading", "ImageServer", "ImageTesting", "LoadScheduling", "MessageDigests",
                "PhotoLibrary", "Pixels", "Placeholders", "Sprites", "ViewerModel",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]),
    ])

// What the suites of pixels spend minutes in without optimization; overflow still traps. Only the
// goals that test ask for it, since a package with such flags cannot be depended on.
if Context.environment["CALOTYPE_OPTIMIZES_TESTS"] != nil {
    let computing = [
        "AssetCatalogs", "Pixels", "Effects", "Drawing", "EncodedImages", "ImageCodecs",
        "ImageTesting", "Textures",
    ]
    for target in package.targets where computing.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
    }
    // A release build is for the modules; to optimize their tests as well takes minutes.
    for target in package.targets where target.type == .test {
        let unoptimized = SwiftSetting.unsafeFlags(["-Onone"], .when(configuration: .release))
        target.swiftSettings = (target.swiftSettings ?? []) + [unoptimized]
    }
    // SwiftPM compiles the program of a plugin and all its modules a second time. Tests start the program
    // that is built once; `make test-deep` builds a package that uses the plugin.
    package.products.removeAll { $0.name == "AssetCatalogPlugin" }
    package.targets.removeAll { $0.type == .plugin }
}

// The shared library contains Swift's runtime and exports the functions of its header only. Such flags
// exclude a package as a dependency, so that only scripts/c-library asks for it.
if Context.environment["CALOTYPE_C_LIBRARY"] != nil {
    package.products.append(
        .library(name: "calotype-c", type: .dynamic, targets: ["CLibrary"]))
    for target in package.targets where target.name == "CLibrary" {
        let linkerArguments = [
            "-soname=libcalotype.so.1", "--gc-sections",
            "--version-script=\(Context.packageDirectory)/Sources/CLibrary/libcalotype.map",
        ]
        target.linkerSettings = [
            .unsafeFlags(["-static-stdlib"] + linkerArguments.flatMap { ["-Xlinker", $0] })
        ]
    }
}

for target in package.targets where target.type != .plugin {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .swiftLanguageMode(.v6),
            // Every use of an unsafe construct is marked `unsafe` where it stands.
            .strictMemorySafety(),
            // `any P` shows where a value is boxed.
            .enableUpcomingFeature("ExistentialAny"),
            // The imports of a module are not visible to the modules that import it.
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            // An async function runs where its caller runs; leaving it is said with `@concurrent`.
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}

/// A C library of the system: a target with its shim, in the folder of the code that wraps it.
struct CLibrary {
    /// A library that does a part of the work faster, where the system has it.
    struct Accelerator {
        let trait: String
        let link: String
        let purpose: String
    }

    /// The trait; also the folder in `Sources/ImageCodecs` and, after a C, the module's name.
    let trait: String
    /// The names by which the linker knows what is loaded at the start, and not when it is first
    /// needed.
    let links: [String]
    let purpose: String
    var accelerator: Accelerator?
    /// Whether the trait is enabled by default.
    var isDefault = true
    /// The folder in `Sources` that contains that of the shim; `nil` for that of the codec.
    var home: String?

    var module: String { "C\(trait)" }
    var folder: String { "\(trait)/\(module)" }
    var traits: [Trait] {
        [.trait(name: trait, description: purpose)]
            + (accelerator.map { [.trait(name: $0.trait, description: $0.purpose)] } ?? [])
    }
    var target: Target {
        let faster = accelerator.map { ($0, BuildSettingCondition.when(traits: [$0.trait])) }
        return .target(
            name: module, dependencies: ["CLazyLibrary"],
            path: "Sources/\(home.map { "\($0)/\(module)" } ?? "ImageCodecs/\(folder)")",
            cSettings: faster.map { [.define("CALOTYPE_\($0.trait)", $1)] },
            linkerSettings: links.map { .linkedLibrary($0) }
                + (faster.map { [.linkedLibrary($0.link, $1)] } ?? []))
    }
    var dependency: Target.Dependency {
        .target(name: module, condition: .when(traits: [trait]))
    }
}
