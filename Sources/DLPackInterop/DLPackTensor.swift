// SPDX-License-Identifier: Apache-2.0

internal import CDLPackInterop
public import Pixels

extension PixelBuffer {
    /// Returns a `DLManagedTensorVersioned` of DLPack 1.0 with the memory of this image, without a copy.
    ///
    /// Shape: rows, columns and, if there are several, channels. The tensor is read-only. The consumer calls
    /// its deleter once, which releases the memory.
    ///
    /// - Throws: ``Pixels/PixelError/unsupported(reason:)`` for ``Pixels/PixelFormat/yCbCr420``,
    ///   ``Pixels/PixelError/memoryUnavailable(byteCount:)``.
    @unsafe
    public func dlpackTensor() throws(PixelError) -> UnsafeMutableRawPointer {
        guard format.planeCount == 1 else {
            throw .unsupported(reason: "\(format) has several planes; convert to rgb8")
        }
        let plane = format.plane(0)
        let layout = layout(ofPlane: 0)
        var tensor = unsafe calotype_dlpack_layout()
        unsafe tensor.type = format.dlpackType
        unsafe tensor.bits = Int32(plane.bytesPerChannel * 8)
        unsafe tensor.dimension_count = plane.channelCount == 1 ? 2 : 3
        unsafe tensor.shape = (
            Int64(size.height), Int64(size.width), Int64(plane.channelCount)
        )
        unsafe tensor.strides = (
            Int64(layout.bytesPerRow / plane.bytesPerChannel), Int64(plane.channelCount), 1
        )
        let owner = unsafe retainMemory()
        let result = unsafe withMemory { memory in
            unsafe tensor.data = memory.baseAddress?.advanced(by: layout.offset)
            return unsafe calotype_dlpack_create(&tensor, owner) { owner in
                if let owner = unsafe owner { unsafe PixelBuffer.releaseMemory(owner) }
            }
        }
        guard let result = unsafe result else {
            unsafe PixelBuffer.releaseMemory(owner)
            throw .memoryUnavailable(byteCount: byteCount)
        }
        return unsafe result
    }

    /// Creates an image with the memory of a tensor of DLPack, without a copy.
    ///
    /// The tensor must not be changed afterwards.
    ///
    /// - Parameters:
    ///   - tensor: a `DLManagedTensorVersioned`: rows, columns and, if the format has several, channels.
    ///     The channels of a pixel must be adjacent, and so must the pixels of a row. The image calls its
    ///     deleter with the last copy; the caller must not.
    ///   - format: the format of the samples, with one plane.
    ///   - colorProfile: the colour space of the samples.
    /// - Throws: ``Pixels/PixelError/unsupported(reason:)`` for a tensor of another form or on another
    ///   device, ``Pixels/PixelError/invalidLayout(reason:)``. The caller then keeps the tensor.
    @unsafe
    public init(
        adoptingDLPackTensor tensor: UnsafeMutableRawPointer, format: PixelFormat,
        colorProfile: ColorProfile = .sRGB
    ) throws(PixelError) {
        var layout = unsafe calotype_dlpack_layout()
        guard unsafe calotype_dlpack_read(tensor, &layout) else {
            throw .unsupported(
                reason: "the tensor is not one of DLPack 1 with 2 or 3 dimensions in main memory")
        }
        let plane = format.plane(0)
        let (shape, strides) = unsafe (layout.shape, layout.strides)
        let isGray = unsafe layout.dimension_count == 2
        let channelCount = isGray ? 1 : shape.2
        guard format.planeCount == 1, channelCount == plane.channelCount,
            unsafe layout.type == format.dlpackType,
            unsafe Int(layout.bits) == plane.bytesPerChannel * 8
        else {
            throw .unsupported(
                reason: unsafe "a tensor with \(channelCount) channels of \(layout.bits) bits "
                    + "is not \(format)")
        }
        guard strides.1 == channelCount, isGray || strides.2 == 1 else {
            throw .unsupported(
                reason: "the pixels of a row are not adjacent; copy the tensor first")
        }
        let size = PixelSize(width: Int(shape.1), height: Int(shape.0))
        let (bytesPerRow, isTooLarge) = Int(strides.0)
            .multipliedReportingOverflow(by: plane.bytesPerChannel)
        let (rows, isTooMuch) = bytesPerRow.multipliedReportingOverflow(by: max(size.height, 1))
        guard strides.0 >= 0, !isTooLarge, !isTooMuch else {
            throw .invalidLayout(reason: "invalid stride of \(strides.0) elements")
        }
        let owner = unsafe TensorReference(tensor)
        // The last row may end before the next one would start.
        let rest = max(0, bytesPerRow - size.width * plane.bytesPerPixel)
        try unsafe self.init(
            adopting: UnsafeRawBufferPointer(start: layout.data, count: max(0, rows - rest)),
            size: size, format: format, planes: [PlanePosition(bytesPerRow: bytesPerRow)],
            colorProfile: colorProfile
        ) { owner.delete() }
    }
}

extension PixelFormat {
    fileprivate var dlpackType: Int32 {
        Int32(self == .rgbaHalf ? calotype_dlpack_float : calotype_dlpack_unsigned)
    }
}

/// A tensor that the image owns once it has been created.
@safe
private struct TensorReference: Sendable {
    // Only deleted, which DLPack permits on any thread.
    nonisolated(unsafe) private let tensor: UnsafeMutableRawPointer

    init(_ tensor: UnsafeMutableRawPointer) { unsafe self.tensor = tensor }

    func delete() { unsafe calotype_dlpack_delete(tensor) }
}
