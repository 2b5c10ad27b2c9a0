// SPDX-License-Identifier: Apache-2.0

import CLazyLibrary
import EncodedImages
import Testing

@testable import ImageCodecs

@Suite("A lazily loaded library") struct LazyLibraryTests {
    private func problem(_ library: String, _ function: String) -> String? {
        unsafe function.withCString { name in
            var address: UnsafeMutableRawPointer?
            return unsafe withUnsafeMutablePointer(to: &address) { address in
                var wanted = unsafe calotype_function(name: name, address: address)
                return unsafe calotype_load_library(library, &wanted, 1)
                    .map { unsafe String(cString: $0) }
            }
        }
    }

    @Test("is named in the error, as are missing functions") func missing() {
        #expect(problem("libmissing.so.1", "malloc")?.contains("libmissing.so.1") == true)
        #expect(problem("libm.so.6", "no_such_function")?.contains("no_such_function") == true)
        #expect(problem("libm.so.6", "cos") == nil)
    }

    @Test("causes an error if it is missing") func told() throws {
        try requireLibrary(nil)
        let error = unsafe "libmissing.so.1".withCString { name in
            do throws(CodecError) {
                try unsafe requireLibrary(name)
                return nil as CodecError?
            } catch {
                return error
            }
        }
        #expect(error == .library(message: "cannot load the library: libmissing.so.1"))
    }
}
