// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import ImageTesting
import Testing

@testable import EncodedImages

@Suite("Reading ahead") struct ReadAheadTests {
    /// The number of page faults of this thread.
    private var faultCount: Int {
        var usage = rusage()
        // RUSAGE_THREAD, which the module Glibc lacks.
        unsafe getrusage(1, &usage)
        return usage.ru_minflt + usage.ru_majflt
    }

    private func sum(_ bytes: EncodedBytes, _ range: Range<Int>) -> Int {
        bytes.withBytes { file in
            var sum = 0
            for index in stride(from: range.lowerBound, to: range.upperBound, by: 4_096) {
                sum &+= Int(file[index])
            }
            return sum
        }
    }

    @Test("leaves no page faults to later accesses, and reads an array as well")
    func faults() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "file").path
            try Data(repeating: 3, count: 8 << 20).write(to: URL(filePath: path))
            let range = 5_000..<8 << 20
            let plain = try EncodedBytes(mapping: path)
            let before = faultCount
            let expected = sum(plain, range)
            let plainCount = faultCount - before

            let bytes = try EncodedBytes(mapping: path)
            bytes.readAhead(range)
            bytes.readAhead(0..<0)
            let start = faultCount
            #expect(sum(bytes, range) == expected)
            #expect(faultCount - start < max(1, plainCount))

            let array = EncodedBytes([1, 2, 3])
            array.readAhead(0..<3)
            #expect(array.count == 3)
        }
    }
}
