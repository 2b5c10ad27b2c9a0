// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import Glibc
import ImageTesting
import Testing

@testable import DecoderSandbox

/// Memory that workers map.
@Suite struct SharedBytesTests {
    private struct Failure: Error {
        let reason: Int32
    }

    private func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 8) }
    }

    private func filled(_ bytes: [UInt8]) throws -> SharedBytes {
        guard var memory = SharedBytes(), memory.append(bytes.span) else {
            throw Failure(reason: errno)
        }
        return memory
    }

    private func openedPipe() throws -> (input: Int32, output: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func `bytes of an array and of a pipe are joined`() throws {
        let expected = pattern(300_000)
        let (input, output) = try openedPipe()
        defer { close(input) }
        var memory = try filled(Array(expected[..<1000]))
        var sent = 1000
        while sent < expected.count {
            let piece = Array(expected[sent..<min(sent + 50_000, expected.count)])
            try #require(unsafe write(output, piece, piece.count) == piece.count)
            sent += piece.count
            while memory.count < sent {
                let missing = sent - memory.count
                let count = memory.append(first: missing, of: input) ?? 0
                try #require(1...missing ~= count)
            }
        }
        close(output)
        let atEnd = memory.append(first: 1, of: input)
        #expect(atEnd == 0)
        let bytes = memory.finish()
        #expect(bytes?.count == expected.count)
        #expect(bytes?.copy(of: 0..<expected.count) == expected)
    }

    @Test func `a file is not a pipe`() throws {
        let folder = try TemporaryFolder()
        try Data([1, 2, 3]).write(to: URL(filePath: folder.path("file")))
        let file = unsafe open(folder.path("file"), O_RDONLY)
        defer { close(file) }
        var memory = try filled([])
        let count = memory.append(first: 3, of: file)
        #expect(count == nil && errno == EINVAL)
    }

    @Test func `no process can change the bytes`() throws {
        let bytes = try filled([1, 2, 3, 4]).finish()
        let descriptor = try #require(bytes?.descriptor)
        #expect(unsafe pwrite(descriptor, "9", 1, 0) == -1 && errno == EPERM)
        #expect(ftruncate(descriptor, 0) == -1 && errno == EPERM)
        #expect(ftruncate(descriptor, 8) == -1 && errno == EPERM)
        let writable = unsafe mmap(nil, 4, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        #expect(unsafe writable == MAP_FAILED)
        let readable = unsafe mmap(nil, 4, PROT_READ, MAP_SHARED, descriptor, 0)
        try #require(unsafe readable != MAP_FAILED)
        #expect(unsafe mprotect(readable, 4, PROT_READ | PROT_WRITE) == -1 && errno == EACCES)
        _ = unsafe munmap(readable, 4)
        #expect(bytes?.copy(of: 0..<4) == [1, 2, 3, 4])
    }

    @Test func `memory is sealed while the kernel uses a page`() throws {
        let (input, output) = try openedPipe()
        defer {
            close(input)
            close(output)
        }
        let memory = try filled(pattern(8192))
        // The pipe refers to the page instead of containing a copy.
        var offset = off_t(0)
        let sent = unsafe sendfile(output, memory.memory, &offset, 4096)
        try #require(sent == 4096)
        let bytes = memory.finish()
        #expect(bytes?.copy(of: 0..<8192) == pattern(8192))
    }
}
