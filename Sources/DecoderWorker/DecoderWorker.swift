// SPDX-License-Identifier: Apache-2.0

internal import DecoderSandbox
internal import ImageCodecs

/// Decodes pictures for the program that started it, and can do nothing else; see `DecoderSandbox`.
@main
enum DecoderWorker {
    static func main() {
        SandboxWorker.run(codecs: sandboxCodecs, rehearsals: sandboxRehearsals)
    }
}
