// SPDX-License-Identifier: Apache-2.0

public import CCalotype
internal import Pixels

/// Returns the planes of an image.
@c @implementation
public func calotype_image_planes(
    _ image: OpaquePointer!, _ planes: UnsafeMutablePointer<calotype_planes>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        let handle = unsafe try ImageHandle.borrowed(image, "image")
        guard let planes = unsafe planes else { throw .argument("planes is null") }
        let size = unsafe planes.pointee.struct_size
        try checkSize(size, MemoryLayout<calotype_planes>.size, "planes")
        let image = handle.image
        guard image.format == .yCbCr420, let address = unsafe handle.address else {
            throw .argument(
                "the image is \(image.format) without planes: use calotype_image_pixels")
        }
        func plane(_ index: Int) -> calotype_plane {
            let layout = image.layout(ofPlane: index)
            return unsafe calotype_plane(
                data: address + layout.offset,
                byte_count: (layout.size.height - 1) * layout.bytesPerRow + layout.size.width,
                bytes_per_row: layout.bytesPerRow, width: UInt32(clamping: layout.size.width),
                height: UInt32(clamping: layout.size.height))
        }
        var result = calotype_planes()
        result.struct_size = size
        result.width = UInt32(clamping: image.size.width)
        result.height = UInt32(clamping: image.size.height)
        result.format = calotype_format(CALOTYPE_YCBCR420)
        result.plane_count = 3
        unsafe result.planes.0 = plane(0)
        unsafe result.planes.1 = plane(1)
        unsafe result.planes.2 = plane(2)
        unsafe planes.pointee = result
    }
}

/// Decodes an image into planes in memory of the caller.
@c @implementation
public func calotype_decode_into_planes(
    _ source: OpaquePointer!, _ options: UnsafePointer<calotype_decode_options>!,
    _ cancellation: OpaquePointer!, _ planes: UnsafePointer<calotype_planes>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        let handle = unsafe try SourceHandle.borrowed(source, "source")
        let target = unsafe try CallerPlanes(planes)
        target.copyRows(
            of: unsafe try handle.decode(options, cancellation, target.size, .yCbCr420))
    }
}

/// Planes in memory of the caller, whose layout has been checked.
@safe private struct CallerPlanes {
    let size: PixelSize
    /// The planes; with two, the second contains pairs of Cb and Cr.
    private let planes: [calotype_plane]

    init(_ pointer: UnsafePointer<calotype_planes>?) throws(Failure) {
        guard let given = unsafe try structure(pointer, \.struct_size, "planes") else {
            throw .argument("planes is null")
        }
        size = PixelSize(width: Int(given.width), height: Int(given.height))
        let all = unsafe [given.planes.0, given.planes.1, given.planes.2]
        switch Int(given.format) {
        case Int(CALOTYPE_YCBCR420): unsafe planes = all
        case Int(CALOTYPE_NV12): unsafe planes = Array(all.prefix(2))
        default:
            throw .argument("invalid planes->format \(given.format): 8 or 9 is required")
        }
        try checkSides(size)
        for index in unsafe planes.indices { try check(index) }
    }

    /// The number of rows and of bytes of a row of a plane.
    private func shape(_ index: Int) -> (rows: Int, rowByteCount: Int) {
        if index == 0 { return (size.height, size.width) }
        let width = (size.width + 1) / 2
        return ((size.height + 1) / 2, unsafe planes.count == 2 ? width * 2 : width)
    }

    private func check(_ index: Int) throws(Failure) {
        let plane = unsafe planes[index]
        let (rows, rowByteCount) = shape(index)
        guard unsafe plane.data != nil else { throw .argument("planes[\(index)].data is null") }
        let stride = unsafe plane.bytes_per_row
        let (before, overflow) = stride.multipliedReportingOverflow(by: rows - 1)
        let (needed, overflowOfSum) = before.addingReportingOverflow(rowByteCount)
        guard stride >= rowByteCount, !overflow, !overflowOfSum else {
            throw .argument(
                "invalid planes[\(index)].bytes_per_row \(stride): at least \(rowByteCount) is "
                    + "required")
        }
        guard unsafe plane.byte_count >= needed else {
            throw .argument(
                "planes[\(index)].byte_count is \(unsafe plane.byte_count); \(needed) are required")
        }
    }

    /// Writes the planes of an image of the same size to the memory.
    func copyRows(of image: PixelBuffer) {
        for index in unsafe planes.indices {
            let (rows, rowByteCount) = shape(index)
            for y in 0..<rows {
                let target = unsafe row(y, of: index, rowByteCount)
                let first = image.row(y, plane: index)
                if index == 1, unsafe planes.count == 2 {
                    let second = image.row(y, plane: 2)
                    for x in first.indices {
                        unsafe target[2 * x] = first[x]
                        unsafe target[2 * x + 1] = second[x]
                    }
                } else {
                    unsafe first.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
                }
            }
        }
    }

    /// Returns the memory of a row.
    private func row(
        _ y: Int, of index: Int, _ byteCount: Int
    ) -> UnsafeMutableRawBufferPointer {
        let plane = unsafe planes[index]
        let first = unsafe UnsafeMutableRawPointer(mutating: plane.data)
        return unsafe UnsafeMutableRawBufferPointer(
            start: first.map { unsafe $0 + y * plane.bytes_per_row }, count: byteCount)
    }
}
