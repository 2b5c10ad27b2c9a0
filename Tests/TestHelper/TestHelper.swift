// SPDX-License-Identifier: Apache-2.0

internal import DecoderSandbox
internal import EncodedImages
internal import Foundation
internal import ImageCodecs

/// The program that tests start to kill it or to measure its memory.
///
/// The first argument is the command. Without arguments the program is a worker with one more
/// format, whose files specify an attack on the host. Under some names its version differs.
@main
enum TestHelper {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst(2))
        switch CommandLine.arguments.dropFirst().first {
        case nil: decode()
        case .some(let option) where option.hasPrefix("--formats="): decode()
        case "mapping-fault": try MappingFault.run(arguments)
        case "open-bomb": try BombOpener.run(arguments)
        case "digests": for path in arguments { print(BombOpener.digest(path)) }
        case "draw-texts": try TextDrawer.run(arguments)
        case "write-store": try await StoreWriter.run(arguments)
        case "write-pyramid": try await PyramidWriter.run(arguments)
        case .some(let other): fatalError("unknown command: \(other)")
        }
    }

    private static func decode() {
        let name = CommandLine.arguments.first ?? ""
        if name.hasSuffix("hello of the first version") {
            return say("434c3144 64000000 00000000 08000000 ff00000000000000")
        }
        if name.hasSuffix("hello of another layout") {
            return say("434c3244 64000000 00000000 10000000 0100000000000000 ff00000000000000")
        }
        SandboxWorker.run { formats in
            let codecs = sandboxCodecs(loading: formats).adding([HostileCodec()])
            return (codecs, sandboxRehearsals(of: formats))
        }
    }
}
