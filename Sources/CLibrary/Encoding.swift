// SPDX-License-Identifier: Apache-2.0

public import CCalotype
internal import DecoderSandbox
internal import EncodedImages
internal import ImageCodecs
internal import Pixels

/// Encodes pixels.
@c @implementation
public func calotype_encode(
    _ pixels: UnsafePointer<calotype_pixels>!, _ format: UnsafePointer<CChar>!,
    _ options: UnsafePointer<calotype_encode_options>!, _ cancellation: OpaquePointer!,
    _ data: UnsafeMutablePointer<OpaquePointer?>!, _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        guard let data = unsafe data else { throw .argument("data is null") }
        unsafe data.pointee = nil
        let pixels = unsafe try CallerPixels(pixels)
        let name = unsafe try string(format, "format")
        let options = unsafe try EncodeOptions(options)
        let flag = unsafe try flag(cancellation)
        do throws(CodecError) {
            let destination = try ImageDestination(
                format: name, codecs: builtInCodecs, options: options)
            let file = try destination.encode(pixels.image(), cancellation: flag)
            unsafe data.pointee = DataHandle(file).passed()
        } catch {
            throw .codec(error, file: nil)
        }
    }
}

/// Reads, reduces and encodes an image.
@c @implementation
public func calotype_thumbnail(
    _ source: OpaquePointer!, _ options: UnsafePointer<calotype_decode_options>!,
    _ format: UnsafePointer<CChar>!, _ encode_options: UnsafePointer<calotype_encode_options>!,
    _ cancellation: OpaquePointer!, _ data: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        guard let data = unsafe data else { throw .argument("data is null") }
        unsafe data.pointee = nil
        let handle = unsafe try SourceHandle.borrowed(source, "source")
        var page = 0
        var options = unsafe try DecodeOptions(options, page: &page)
        let name = unsafe try string(format, "format")
        let encodeOptions = unsafe try EncodeOptions(encode_options)
        let flag = unsafe try flag(cancellation)
        let file = try handle.naming { () throws(CodecError) in
            let destination = try ImageDestination(
                format: name, codecs: handle.codecs, options: encodeOptions)
            options.acceptsYCbCr = destination.prefersYCbCr && options.pixelFormat == nil
            let image = try handle.source.page(page).image(options, cancellation: flag)
            return try destination.encode(image, cancellation: flag)
        }
        unsafe data.pointee = DataHandle(file).passed()
    }
}

/// Returns the address of data.
@c @implementation
public func calotype_data_bytes(_ data: OpaquePointer!) -> UnsafeRawPointer! {
    unsafe (try? DataHandle.borrowed(data, "data"))?.address
}

/// Returns the number of bytes of data.
@c @implementation
public func calotype_data_byte_count(_ data: OpaquePointer!) -> Int {
    unsafe (try? DataHandle.borrowed(data, "data"))?.bytes.count ?? 0
}

/// Frees data.
@c @implementation
public func calotype_data_release(_ data: OpaquePointer!) { unsafe Handle.release(data) }

/// Starts the processes of a sandbox.
@c @implementation
public func calotype_sandbox_create(
    _ worker_path: UnsafePointer<CChar>!, _ worker_count: UInt32,
    _ sandbox: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        guard let sandbox = unsafe sandbox else { throw .argument("sandbox is null") }
        unsafe sandbox.pointee = nil
        let path = unsafe try string(worker_path, "worker_path")
        guard (1...1024).contains(worker_count) else {
            throw .argument("invalid worker_count \(worker_count): 1 to 1024 is required")
        }
        var configuration = DecoderSandbox.Configuration(
            workerPath: path, workerCount: Int(worker_count))
        configuration.formats = { work in
            switch work {
            case .decode(let file): sharedSandboxFormats(toDecode: file)
            case .encode(let format): sharedSandboxFormats(toEncode: format)
            case .convertColors: sharedSandboxFormats
            }
        }
        let started = DecoderSandbox(configuration)
        do throws(CodecError) {
            _ = try started.layers()
        } catch {
            started.close()
            throw .codec(error, file: path)
        }
        unsafe sandbox.pointee = SandboxHandle(started).passed()
    }
}

/// Ends the processes of a sandbox.
@c @implementation
public func calotype_sandbox_release(_ sandbox: OpaquePointer!) {
    unsafe (try? SandboxHandle.borrowed(ifNotNull: sandbox, "sandbox"))?.sandbox.close()
    unsafe Handle.release(sandbox)
}
