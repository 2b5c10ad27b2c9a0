// SPDX-License-Identifier: Apache-2.0

public import CCalotype
internal import EncodedImages
internal import Glibc
internal import ImageCodecs
internal import Pixels

/// Returns the version of the interface.
@c @implementation
public func calotype_abi_version() -> UInt32 { UInt32(CALOTYPE_ABI_VERSION) }

/// Opens a file by its path.
@c @implementation
public func calotype_open_path(
    _ path: UnsafePointer<CChar>!, _ limits: UnsafePointer<calotype_limits>!,
    _ sandbox: OpaquePointer!, _ source: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe open(into: source, limits, sandbox, error) { limits throws(Failure) in
        let name = unsafe try string(path, "path")
        do throws(CodecError) {
            return (try EncodedBytes(opening: name, limits: limits), name)
        } catch {
            throw .codec(error, file: name)
        }
    }
}

/// Opens a file in memory.
@c @implementation
public func calotype_open_bytes(
    _ bytes: UnsafeRawPointer!, _ byte_count: Int, _ limits: UnsafePointer<calotype_limits>!,
    _ sandbox: OpaquePointer!, _ source: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe open(into: source, limits, sandbox, error) { limits throws(Failure) in
        guard byte_count >= 0 else { throw .argument("invalid byte_count \(byte_count)") }
        guard unsafe bytes != nil || byte_count == 0 else { throw .argument("bytes is null") }
        do throws(CodecError) {
            try limits.check(.byteCount, byte_count)
        } catch {
            throw .codec(error, file: nil)
        }
        let copy = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: byte_count))
        return (EncodedBytes(copy), nil)
    }
}

/// Opens a file by its descriptor.
@c @implementation
public func calotype_open_descriptor(
    _ descriptor: Int32, _ limits: UnsafePointer<calotype_limits>!,
    _ sandbox: OpaquePointer!, _ source: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe open(into: source, limits, sandbox, error) { limits throws(Failure) in
        let name = "descriptor \(descriptor)"
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .codec(.file(reason: "not a regular file that is open"), file: name)
        }
        do throws(CodecError) {
            let byteCount = Int(status.st_size)
            try limits.check(.byteCount, byteCount)
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { throw .file(reason: "no descriptor is left: \(errno)") }
            let bytes = try EncodedBytes(descriptor: copy, byteCount: byteCount, isMapped: false)
            return (bytes, name)
        } catch {
            throw .codec(error, file: name)
        }
    }
}

/// Opens the bytes that `read` returns, with their name.
private func open(
    into result: UnsafeMutablePointer<OpaquePointer?>?, _ limits: UnsafePointer<calotype_limits>?,
    _ sandbox: OpaquePointer?, _ error: UnsafeMutablePointer<calotype_error>?,
    _ read: (DecodeLimits) throws(Failure) -> (EncodedBytes, String?)
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        guard let result = unsafe result else { throw .argument("source is null") }
        unsafe result.pointee = nil
        let limits = unsafe try DecodeLimits(limits)
        let codecs = unsafe try codecs(sandbox)
        let (bytes, name) = try read(limits)
        unsafe result.pointee = try SourceHandle(bytes, name, codecs, limits).passed()
    }
}

/// Returns the codecs, which decode in a sandbox if it is not null.
func codecs(_ sandbox: OpaquePointer?) throws(Failure) -> CodecSet {
    guard let handle = unsafe try SandboxHandle.borrowed(ifNotNull: sandbox, "sandbox") else {
        return builtInCodecs
    }
    return builtInCodecs.decoded(by: handle.sandbox)
}

extension SourceHandle {
    convenience init(
        _ bytes: EncodedBytes, _ name: String?, _ codecs: CodecSet, _ limits: DecodeLimits
    ) throws(Failure) {
        do throws(CodecError) {
            self.init(try ImageSource(bytes, codecs: codecs, limits: limits), name, codecs)
        } catch {
            throw .codec(error, file: name)
        }
    }

    /// Calls `body`, and adds the name of the file to its error.
    func naming<Result>(_ body: () throws(CodecError) -> Result) throws(Failure) -> Result {
        do throws(CodecError) {
            return try body()
        } catch {
            throw .codec(error, file: name)
        }
    }
}

/// Closes a file.
@c @implementation
public func calotype_source_release(_ source: OpaquePointer!) { unsafe Handle.release(source) }

/// Returns the header of a file.
@c @implementation
public func calotype_source_header(
    _ source: OpaquePointer!, _ header: UnsafeMutablePointer<calotype_header>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        let source = unsafe try SourceHandle.borrowed(source, "source").source
        guard let header = unsafe header else { throw .argument("header is null") }
        try checkSize(
            unsafe header.pointee.struct_size, MemoryLayout<calotype_header>.size, "header")
        let known = source.header
        var result = calotype_header()
        result.struct_size = unsafe header.pointee.struct_size
        result.width = UInt32(clamping: known.pixelSize.width)
        result.height = UInt32(clamping: known.pixelSize.height)
        result.orientation = Int32(known.orientation.rawValue)
        result.bits_per_sample = Int32(clamping: known.bitsPerComponent)
        result.has_alpha = known.hasAlpha ? 1 : 0
        result.is_gray = known.colorModel == .gray ? 1 : 0
        result.frame_count = UInt32(clamping: known.frameCount)
        result.page_count = UInt32(clamping: known.pageCount)
        unsafe withUnsafeMutableBytes(of: &result.format) {
            unsafe $0.copyText(source.format.name)
        }
        unsafe header.pointee = result
    }
}

/// Returns a block of metadata.
@c @implementation
public func calotype_source_metadata(
    _ source: OpaquePointer!, _ kind: calotype_metadata,
    _ data: UnsafeMutablePointer<OpaquePointer?>!, _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        let handle = unsafe try SourceHandle.borrowed(source, "source")
        guard let data = unsafe data else { throw .argument("data is null") }
        unsafe data.pointee = nil
        let block = try handle.block(kind)
        unsafe data.pointee = block.map { unsafe DataHandle($0).passed() }
    }
}

extension SourceHandle {
    fileprivate func block(_ kind: calotype_metadata) throws(Failure) -> [UInt8]? {
        switch Int(kind) {
        case Int(CALOTYPE_EXIF): return try metadata().exif
        case Int(CALOTYPE_XMP): return try metadata().xmp
        case Int(CALOTYPE_IPTC): return try metadata().iptc
        case Int(CALOTYPE_ICC):
            guard case .icc(let profile) = source.header.colorProfile else { return nil }
            return profile
        default: throw .argument("invalid kind \(kind): 1 to 4 is required")
        }
    }

    private func metadata() throws(Failure) -> MetadataBlocks {
        try naming { () throws(CodecError) in try source.metadata() }
    }
}
