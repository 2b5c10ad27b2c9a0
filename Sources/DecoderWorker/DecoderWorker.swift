// SPDX-License-Identifier: Apache-2.0

internal import DecoderSandbox
internal import ImageCodecs

/// The worker process of `DecoderSandbox`.
@main
enum DecoderWorker {
    static func main() {
        SandboxWorker.run { formats in
            (sandboxCodecs(loading: formats), sandboxRehearsals(of: formats))
        }
    }
}
