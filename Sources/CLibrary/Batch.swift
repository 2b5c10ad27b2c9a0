// SPDX-License-Identifier: Apache-2.0

public import CCalotype
internal import EncodedImages
internal import Glibc
internal import Pixels
internal import Synchronization

/// Files that threads of their own decode.
@safe final class BatchHandle: Handle {
    private let paths: [String]
    private let options: DecodeOptions
    private let page: Int
    private let limits: DecodeLimits
    private let codecs: CodecSet
    private let callback: calotype_batch_callback
    private let context: UnsafeMutableRawPointer?
    private let next = Atomic(0)
    private var threads: [pthread_t] = []
    let cancellation = CancellationFlag()

    init(
        _ paths: [String], _ options: DecodeOptions, page: Int, _ limits: DecodeLimits,
        _ codecs: CodecSet, _ callback: @escaping calotype_batch_callback,
        _ context: UnsafeMutableRawPointer?
    ) {
        self.paths = paths
        self.options = options
        self.page = page
        self.limits = limits
        self.codecs = codecs
        unsafe self.callback = callback
        unsafe self.context = context
    }

    /// Starts the threads; those that have started process all files even if others cannot start.
    func start(threadCount: Int) throws(Failure) {
        // Signals of the calling program are delivered to its own threads.
        var all = sigset_t()
        var previous = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        var code: Int32 = 0
        for _ in 0..<min(threadCount, paths.count) where code == 0 {
            var thread = pthread_t()
            let argument = unsafe Unmanaged.passRetained(self)
            code = unsafe pthread_create(
                &thread, nil,
                { argument in
                    guard let argument = unsafe argument else { return nil }
                    unsafe Unmanaged<BatchHandle>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                }, argument.toOpaque())
            if code == 0 { threads.append(thread) } else { unsafe argument.release() }
        }
        if threads.isEmpty, code != 0 {
            throw .codec(.library(message: "no thread can be started: error \(code)"), file: nil)
        }
    }

    private func run() {
        while true {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < paths.count else { return }
            do throws(Failure) {
                let image = ImageHandle(try decode(paths[index]))
                unsafe callback(context, index, image.passed(), nil)
            } catch {
                let error = calotype_error(error)
                unsafe withUnsafePointer(to: error) { unsafe callback(context, index, nil, $0) }
            }
        }
    }

    private func decode(_ path: String) throws(Failure) -> PixelBuffer {
        if cancellation.isCancelled { throw .codec(.cancelled, file: path) }
        let bytes: EncodedBytes
        do throws(CodecError) {
            bytes = try EncodedBytes(opening: path, limits: limits)
        } catch {
            throw .codec(error, file: path)
        }
        return try SourceHandle(bytes, path, codecs, limits)
            .decode(options, page: page, cancellation)
    }

    func wait() {
        for thread in threads { pthread_join(thread, nil) }
    }
}

/// Starts a batch.
@c @implementation
public func calotype_batch_start(
    _ paths: UnsafePointer<UnsafePointer<CChar>?>!, _ path_count: Int,
    _ options: UnsafePointer<calotype_decode_options>!, _ limits: UnsafePointer<calotype_limits>!,
    _ sandbox: OpaquePointer!, _ thread_count: UInt32, _ callback: calotype_batch_callback!,
    _ context: UnsafeMutableRawPointer!, _ batch: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<calotype_error>!
) -> calotype_status {
    unsafe attempt(error) { () throws(Failure) in
        guard let batch = unsafe batch else { throw .argument("batch is null") }
        unsafe batch.pointee = nil
        guard let callback = unsafe callback else { throw .argument("callback is null") }
        guard (1...1024).contains(thread_count) else {
            throw .argument("invalid thread_count \(thread_count): 1 to 1024 is required")
        }
        guard path_count >= 0, unsafe paths != nil || path_count == 0 else {
            throw .argument("paths is null")
        }
        var copies: [String] = []
        for index in 0..<path_count {
            copies.append(unsafe try string(paths[index], "paths[\(index)]"))
        }
        var page = 0
        let options = unsafe try DecodeOptions(options, page: &page)
        let handle = unsafe BatchHandle(
            copies, options, page: page, try DecodeLimits(limits), try codecs(sandbox), callback,
            context)
        try handle.start(threadCount: Int(thread_count))
        unsafe batch.pointee = handle.passed()
    }
}

/// Cancels a batch.
@c @implementation
public func calotype_batch_cancel(_ batch: OpaquePointer!) {
    unsafe (try? BatchHandle.borrowed(batch, "batch"))?.cancellation.cancel()
}

/// Waits for a batch and frees it.
@c @implementation
public func calotype_batch_wait(_ batch: OpaquePointer!) {
    unsafe (try? BatchHandle.borrowed(batch, "batch"))?.wait()
    unsafe Handle.release(batch)
}
