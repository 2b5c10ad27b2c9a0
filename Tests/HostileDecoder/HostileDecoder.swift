// SPDX-License-Identifier: Apache-2.0

internal import DecoderSandbox
internal import EncodedImages
internal import ImageCodecs

/// A worker that knows one more format, whose files say what is done to the host.
///
/// Under some names it is a worker of another version.
@main
enum HostileDecoder {
    static func main() {
        let name = CommandLine.arguments.first ?? ""
        if name.hasSuffix("hello of the first version") {
            return say("434c3144 64000000 00000000 08000000 ff00000000000000")
        }
        if name.hasSuffix("hello of another layout") {
            return say("434c3244 64000000 00000000 10000000 0100000000000000 ff00000000000000")
        }
        SandboxWorker.run(
            codecs: sandboxCodecs.adding([HostileCodec()]), rehearsals: sandboxRehearsals)
    }
}
