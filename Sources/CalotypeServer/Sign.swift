// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import ImageServer
internal import ImageCommands

struct Sign: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Signs URLs for a server that requires signatures.",
        discussion: """
            Prints each URL with its signature. The key is the first of CALOTYPE_SIGNATURE_KEYS, a \
            comma-separated list in hexadecimal; “openssl rand -hex 32” generates a key.

            EXAMPLES
              export CALOTYPE_SIGNATURE_KEYS=$(openssl rand -hex 32)
              calotype sign /house/512x512/1.jpg
              calotype sign --expires-in 3600 /house/1.jpg
            """)

    @Argument(help: "The paths and queries of the URLs, percent-encoded, such as /house/1.jpg.")
    var urls: [PathGroup]

    @Option(help: "The number of seconds after which the URLs expire (default: never).")
    var expiresIn: Int?

    func validate() throws {
        for url in urls.paths where !url.hasPrefix("/") {
            throw ValidationError("invalid URL: \(url); use the part from the first slash on")
        }
    }

    func run() throws {
        let variable = unsafe getenv("CALOTYPE_SIGNATURE_KEYS").map { unsafe String(cString: $0) }
        guard let key = variable?.split(separator: ",").first.flatMap(hexadecimalBytes) else {
            throw ValidationError("CALOTYPE_SIGNATURE_KEYS does not contain a hexadecimal key")
        }
        for url in urls.paths {
            var signed = url
            if let expiresIn {
                let end = Int(Date().timeIntervalSince1970) + expiresIn
                signed += (url.contains("?") ? "&" : "?") + "expires=\(end)"
            }
            print(PathSignature.signed(signed, key: key))
        }
    }
}
