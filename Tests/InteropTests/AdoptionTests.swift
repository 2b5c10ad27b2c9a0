// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Pixels
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Memory of other libraries")
struct AdoptionTests {
    static let size = PixelSize(width: 37, height: 21)

    @Test("is an image of the same pixels", arguments: PixelFormat.allCases)
    func pixels(_ format: PixelFormat) throws {
        let releases = Releases()
        var image: PixelBuffer? = try Foreign.image(Self.size, format, releases)
        let adopted = try #require(image)
        let copy = MutablePixelBuffer(adopted).finish()
        #expect(copy.bytesPerRow % PixelBuffer.rowAlignment == 0)
        #expect(adopted.bytesPerRow % PixelBuffer.rowAlignment != 0)
        for plane in 0..<format.planeCount {
            for y in 0..<adopted.layout(ofPlane: plane).size.height {
                let (one, other) = (adopted.row(y, plane: plane), copy.row(y, plane: plane))
                #expect(one.count == other.count && one.indices.allSatisfy { one[$0] == other[$0] })
            }
        }
        // Conversions read the rows where they are.
        let target: PixelFormat = format == .rgba8 ? .rgb8 : .rgba8
        #expect(adopted.converted(to: target).packedBytes == copy.converted(to: target).packedBytes)
        image = nil
        #expect(releases.count == 0)
    }

    @Test("is released with the last copy of the image")
    func lastCopy() throws {
        let releases = Releases()
        do {
            let first = try Foreign.image(Self.size, .rgb8, releases)
            var copies = [first, first]
            copies.removeAll()
            #expect(releases.count == 0)
        }
        #expect(releases.count == 1)
        try Foreign.expectOneRelease(format: .yCbCr420) { _ = $0.row(6)[18] }
    }

    @Test("with an invalid layout is refused and not released")
    func invalidLayouts() throws {
        let memory = try unsafe #require(malloc(1_000))
        defer { unsafe free(memory) }
        let bytes = unsafe UnsafeRawBufferPointer(start: memory, count: 1_000)
        let ten = PixelSize(width: 10, height: 10)
        func refused(
            _ size: PixelSize, _ format: PixelFormat, _ planes: [PlanePosition]
        ) -> Bool {
            let releases = Releases()
            do throws(PixelError) {
                _ = unsafe try PixelBuffer(
                    adopting: bytes, size: size, format: format, planes: planes
                ) { releases.add() }
                return false
            } catch {
                guard case .invalidLayout(let reason) = error else { return false }
                return !reason.isEmpty && releases.count == 0
            }
        }
        let rows = [PlanePosition(bytesPerRow: 40)]
        #expect(!refused(ten, .rgba8, rows))
        #expect(refused(PixelSize(width: 0, height: 10), .rgba8, rows))
        #expect(refused(PixelSize(width: 11, height: 10), .rgba8, rows))
        #expect(refused(PixelSize(width: 10, height: 26), .rgba8, rows))
        #expect(!refused(PixelSize(width: 10, height: 25), .rgba8, rows))
        #expect(refused(ten, .rgba8, [PlanePosition(offset: -1, bytesPerRow: 40)]))
        #expect(refused(ten, .rgba8, [PlanePosition(offset: 601, bytesPerRow: 40)]))
        #expect(!refused(ten, .rgba8, [PlanePosition(offset: 600, bytesPerRow: 40)]))
        #expect(refused(ten, .rgba8, [PlanePosition(bytesPerRow: -40)]))
        #expect(refused(ten, .rgba8, [PlanePosition(bytesPerRow: .max)]))
        #expect(refused(ten, .rgba8, [PlanePosition(offset: .max, bytesPerRow: 40)]))
        #expect(refused(ten, .rgba8, rows + rows))
        #expect(refused(ten, .yCbCr420, rows))
        #expect(refused(ten, .gray16, [PlanePosition(offset: 1, bytesPerRow: 20)]))
        #expect(refused(ten, .gray16, [PlanePosition(bytesPerRow: 21)]))
        let empty = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(throws: PixelError.self) {
            _ = try unsafe PixelBuffer(
                adopting: empty, size: ten, format: .gray8, planes: rows
            ) {}
        }
    }

    @Test("of an image keeps its address while a reference exists")
    func references() throws {
        let releases = Releases()
        var image: PixelBuffer? = try Foreign.image(Self.size, .rgb8, releases)
        let reference = try unsafe #require(image).retainMemory()
        image = nil
        #expect(releases.count == 0)
        unsafe PixelBuffer.releaseMemory(reference)
        #expect(releases.count == 1)
    }

    @Test("that is shared and sealed is mapped, not copied")
    func sharedMemory() throws {
        let image = TestImage.photograph(Self.size, .rgb8)
        let shared = try SharedPixels(image)
        #expect(shared.image.packedBytes == image.packedBytes)
        // As a process that received the descriptor.
        var received: SharedPixels? = try SharedPixels(
            descriptor: shared.descriptor, size: Self.size, format: .rgb8)
        #expect(received?.image.packedBytes == image.packedBytes)
        #expect(received?.descriptor != shared.descriptor)
        received = nil
        #expect(fcntl(shared.descriptor, F_GETFD) >= 0)
        // Neither written nor shrunk.
        #expect(unsafe write(shared.descriptor, "x", 1) == -1)
        #expect(ftruncate(shared.descriptor, 0) == -1)
        #expect(throws: PixelError.self) {
            _ = try SharedPixels(
                descriptor: shared.descriptor, size: PixelSize(width: 37, height: 22), format: .rgb8
            )
        }
        #expect(throws: PixelError.self) {
            _ = try SharedPixels(
                descriptor: shared.descriptor, size: PixelSize(width: 37, height: 0), format: .rgb8)
        }
    }

    @Test("that can still change is not mapped as an image")
    func unsealedMemory() throws {
        // A file is not sealed.
        let file = unsafe open("/proc/self/exe", O_RDONLY)
        defer { close(file) }
        #expect(throws: PixelError.self) {
            _ = try SharedPixels(descriptor: file, size: Self.size, format: .rgb8)
        }
        #expect(throws: PixelError.self) {
            _ = try SharedPixels(descriptor: -1, size: Self.size, format: .rgb8)
        }
    }

    @Test("in the order of cairo converts to the same colours", arguments: PixelFormat.allCases)
    func bgra(_ format: PixelFormat) throws {
        let image = TestImage.photograph(Self.size, .rgba8)
        let swapped = image.converted(to: .bgra8)
        for y in 0..<Self.size.height {
            let (from, to) = (image.row(y), swapped.row(y))
            for x in stride(from: 0, to: from.count, by: 4) {
                #expect(from[x] == to[x + 2])
                #expect(from[x + 1] == to[x + 1])
                #expect(from[x + 2] == to[x])
                #expect(from[x + 3] == to[x + 3])
            }
        }
        guard format.planeCount == 1 else { return }
        let (direct, indirect) = (image.converted(to: format), swapped.converted(to: format))
        #expect(direct.packedBytes == indirect.packedBytes)
        let back = direct.converted(to: .bgra8).converted(to: .rgba8)
        #expect(back.packedBytes == direct.converted(to: .rgba8).packedBytes)
    }
}
