// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EncodedImages
internal import Glibc
internal import Pixels
internal import Synchronization

/// What became of one source of a batch.
struct BatchRecord: Sendable {
    struct File: Sendable {
        let output: String
        let path: String
        let size: PixelSize
        let byteCount: Int
    }

    let path: String
    var key: String?
    /// The files that were written.
    var files: [File] = []
    /// The number of outputs that existed already.
    var skippedCount = 0
    var warnings: [String] = []
    /// The reason why no file, or not every file, was written.
    var failure: FileFailure?

    var json: JSON {
        .object([
            .init("source", .string(path)), .init("key", key.map { .string($0) } ?? .null),
            .init(
                "outputs",
                .array(
                    files.map { file in
                        .object([
                            .init("name", .string(file.output)), .init("path", .string(file.path)),
                            .init("width", .integer(file.size.width)),
                            .init("height", .integer(file.size.height)),
                            .init("byteCount", .integer(file.byteCount)),
                        ])
                    })),
            .init("skipped", .integer(skippedCount)),
            .init("warnings", .array(warnings.map { .string($0) })),
            .init("error", failure.map { .string($0.reason) } ?? .null),
        ])
    }
}

/// Makes all outputs of each source with one decode, in parallel.
struct BatchRun: Sendable {
    let maker: OutputMaker
    let outputs: [BatchOutput]
    let folder: String
    /// Whether outputs that are newer than their source are not made again.
    let skipsExisting: Bool

    /// Makes the outputs of all sources.
    ///
    /// Sources are taken one by one, so that memory does not grow with their number.
    ///
    /// - Parameters:
    ///   - jobCount: the number of sources at a time.
    ///   - isInterrupted: checked before each source and while it is decoded.
    ///   - next: returns the next source; `nil` at the end. Not called by two threads at a time.
    ///   - didFinish: receives the record of each source, on any thread.
    func run(
        jobCount: Int, isInterrupted: @escaping @Sendable () -> Bool,
        next: @escaping @Sendable () -> Result<BatchSource, FileFailure>?,
        didFinish: @escaping @Sendable (BatchRecord) -> Void
    ) {
        let cancellation = CancellationFlag(or: isInterrupted)
        // The keys of earlier sources, by the hashes of their bytes: equal-looking names are other files.
        let keys = Mutex(Set<Int>())
        DispatchQueue.concurrentPerform(iterations: jobCount) { _ in
            while !isInterrupted(), let item = next() {
                let record: BatchRecord
                switch item {
                case .failure(let failure):
                    record = BatchRecord(path: failure.path, failure: failure)
                case .success(let source):
                    let isNew = keys.withLock {
                        $0.insert(ComparedByBytes(source.key).hashValue).inserted
                    }
                    record =
                        isNew
                        ? make(source, cancellation)
                        : BatchRecord(
                            path: source.path, key: source.key,
                            failure: FileFailure(
                                source.path, "an earlier source has the key \(source.key)"))
                }
                if record.failure != nil, isInterrupted() { return }
                didFinish(record)
            }
        }
    }

    private func make(_ source: BatchSource, _ cancellation: CancellationFlag) -> BatchRecord {
        var record = BatchRecord(path: source.path, key: source.key)
        do throws(FileFailure) {
            let wanted = try pending(source)
            record.skippedCount = outputs.count - wanted.count
            if !wanted.isEmpty { try make(Set(wanted), source, &record, cancellation) }
        } catch {
            record.failure = error
        }
        return record
    }

    /// Returns the outputs that do not exist, or are older than the source.
    private func pending(_ source: BatchSource) throws(FileFailure) -> [BatchOutput] {
        guard skipsExisting else { return outputs }
        guard let changed = modificationTime(source.path) else {
            throw FileFailure(source.path, lastSystemError())
        }
        return outputs.filter { output in
            modificationTime(output.path(of: source.key, in: folder)).map { $0 < changed } ?? true
        }
    }

    private func make(
        _ wanted: Set<BatchOutput>, _ source: BatchSource, _ record: inout BatchRecord,
        _ cancellation: CancellationFlag
    ) throws(FileFailure) {
        do throws(OutputFailure) {
            try maker.make(wanted, among: outputs, cancellation) { () throws(CodecError) in
                try EncodedBytes(mapping: source.path)
            } write: { file throws(CodecError) in
                if let problem = file.problem, record.warnings.isEmpty {
                    record.warnings.append("\(problem)")
                }
                let path = file.output.path(of: source.key, in: folder)
                try file.write(to: path)
                record.files.append(
                    BatchRecord.File(
                        output: file.output.name, path: path, size: file.size,
                        byteCount: file.bytes.count))
            }
        } catch {
            throw FileFailure(source.path, error)
        }
    }
}

/// Returns when a file was last changed, in nanoseconds since 1970; `nil` if there is none.
private func modificationTime(_ path: String) -> Int? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    let time = status.st_mtim
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
