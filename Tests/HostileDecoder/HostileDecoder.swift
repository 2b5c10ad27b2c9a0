// SPDX-License-Identifier: Apache-2.0

internal import DecoderSandbox
internal import EncodedImages
internal import ImageCodecs

/// A worker that knows one more format, whose files say what is done to the host.
@main
enum HostileDecoder {
    static func main() {
        SandboxWorker.run(
            codecs: sandboxCodecs.adding([HostileCodec()]), rehearsals: sandboxRehearsals)
    }
}
