// SPDX-License-Identifier: Apache-2.0

import Pixels
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A library that tests call as a program does that has nothing to do with the adapters.
@safe struct DynamicLibrary {
    private let handle: UnsafeMutableRawPointer

    /// Loads a library; `nil` if it is not installed.
    init?(_ name: String) {
        guard let handle = unsafe dlopen(name, RTLD_LAZY) else { return nil }
        unsafe self.handle = handle
    }

    /// Returns a function of the library.
    @unsafe func function<Function>(_ name: String) -> Function {
        unsafe unsafeBitCast(dlsym(handle, name), to: Function.self)
    }
}

extension PixelBuffer {
    /// The address of the planes.
    var address: UInt { unsafe withMemory { UInt(bitPattern: $0.baseAddress) } }
}

/// Memory of `malloc` in images.
enum Foreign {
    /// Adopts and releases memory 10,000 times.
    ///
    /// - Parameters:
    ///   - format: the format of the images.
    ///   - use: gives an image to a consumer that releases it before it returns.
    /// - Throws: the errors of `use`.
    static func expectOneRelease(
        format: PixelFormat, _ use: (PixelBuffer) throws -> Void
    ) throws {
        let size = PixelSize(width: 19, height: 7)
        let releases = Releases()
        var largest = 0
        for cycle in 0..<10_000 {
            var image: PixelBuffer? = try image(size, format, releases)
            if let image { try use(image) }
            image = nil
            largest = max(largest, abs(releases.count - cycle - 1))
        }
        #expect(largest == 0)
    }

    /// Returns an image in memory that is freed when it is released.
    static func image(
        _ size: PixelSize, _ format: PixelFormat, _ releases: Releases
    ) throws -> PixelBuffer {
        var offset = 0
        let planes = (0..<format.planeCount).map { plane in
            let samples = format.planeSize(plane, of: size)
            let stride = samples.width * format.plane(plane).bytesPerPixel + 8 & ~3
            defer { offset += stride * samples.height }
            return PlanePosition(offset: offset, bytesPerRow: stride)
        }
        let memory = try unsafe #require(malloc(offset))
        unsafe memset(memory, 0x5A, offset)
        let address = UInt(bitPattern: memory)
        return try unsafe PixelBuffer(
            adopting: UnsafeRawBufferPointer(start: memory, count: offset), size: size,
            format: format, planes: planes
        ) {
            unsafe free(UnsafeMutableRawPointer(bitPattern: address))
            releases.add()
        }
    }
}

/// The number of calls of a function that releases memory.
final class Releases: Sendable {
    private let counter = Atomic(0)

    var count: Int { counter.load(ordering: .sequentiallyConsistent) }

    func add() { counter.add(1, ordering: .sequentiallyConsistent) }
}
