// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import ImageServer

struct Sign: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Signs addresses for a server that answers no others.",
        discussion: """
            Prints each address with its signature. The key is the first of those in \
            CALOTYPE_SIGNATURE_KEYS, in hexadecimal; “openssl rand -hex 32” makes one.

            EXAMPLES
              calotype sign /house/512x512/1.jpg
              calotype sign --expires-in 3600 /house/1.jpg
            """)

    @Argument(help: "Addresses from their first slash on, percent-encoded.")
    var addresses: [String]

    @Option(help: "After how many seconds they are not valid any more.")
    var expiresIn: Int?

    func validate() throws {
        for address in addresses where !address.hasPrefix("/") {
            throw ValidationError("an address begins with a slash, unlike \(address)")
        }
    }

    func run() throws {
        let variable = unsafe getenv("CALOTYPE_SIGNATURE_KEYS").map { unsafe String(cString: $0) }
        guard let key = variable?.split(separator: ",").first.flatMap(hexadecimalBytes) else {
            throw ValidationError("CALOTYPE_SIGNATURE_KEYS holds no key in hexadecimal")
        }
        for address in addresses {
            var signed = address
            if let expiresIn {
                let end = Int(Date().timeIntervalSince1970) + expiresIn
                signed += (address.contains("?") ? "&" : "?") + "expires=\(end)"
            }
            print(AddressSignature.signed(signed, key: key))
        }
    }
}
