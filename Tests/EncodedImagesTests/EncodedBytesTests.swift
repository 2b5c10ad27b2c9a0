// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing

@testable import EncodedImages

@Suite("Encoded bytes") struct EncodedBytesTests {
    @Test("are equal, read or mapped")
    func contents() throws {
        try withTemporaryFolder { folder in
            for count in [0, 1, 4096, 100_000] {
                let contents = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                let path = folder.appending(path: "\(count)").path
                try Data(contents).write(to: URL(filePath: path))
                for bytes in [try EncodedBytes(mapping: path), try EncodedBytes(reading: path)] {
                    #expect(bytes.count == count)
                    let copy = bytes.withBytes { span in span.indices.map { span[$0] } }
                    #expect(copy == contents)
                }
            }
        }
    }

    @Test("are readable after their memory was released")
    func release() throws {
        try withTemporaryFolder { folder in
            let contents = (0..<100_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let path = folder.appending(path: "file").path
            try Data(contents).write(to: URL(filePath: path))
            for bytes in [try EncodedBytes(mapping: path), try EncodedBytes(reading: path)] {
                for range in [0..<0, 5..<6, 5000..<70_000, 60_000..<100_001, 0..<200_000] {
                    bytes.withBytes { _ = $0[range.lowerBound] }
                    bytes.release(range)
                    #expect(bytes.withBytes { span in span.indices.map { span[$0] } } == contents)
                }
            }
        }
    }

    @Test("report why a file cannot be opened")
    func failures() throws {
        try withTemporaryFolder { folder in
            let missing = folder.appending(path: "missing").path
            #expect(throws: CodecError.file(reason: "No such file or directory")) {
                _ = try EncodedBytes(mapping: missing)
            }
            #expect(throws: CodecError.file(reason: "not a regular file")) {
                _ = try EncodedBytes(reading: folder.path)
            }
        }
    }

    @Test("are not read if they exceed the limit")
    func limit() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "large").path
            try Data(repeating: 0, count: 1_001).write(to: URL(filePath: path))
            var limits = DecodeLimits()
            limits.maximumByteCount = 1_000
            let expected = CodecError.limitExceeded(.byteCount, needed: 1_001, allowed: 1_000)
            #expect(throws: expected) { _ = try EncodedBytes(reading: path, limits: limits) }
        }
    }
}
