// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
public import EncodedImages
public import Pixels

extension DecoderSandbox {
    /// Reads headers in groups, each in one exchange with a worker.
    public func sizes(
        of files: [EncodedBytes], limits: DecodeLimits
    ) -> [Result<(format: String, size: PixelSize), CodecError>] {
        var groups: [WorkerFormats: [Int]] = [:]
        for (index, file) in files.enumerated()
        where file.descriptor != nil && (try? quarantine.check(file)) != nil {
            groups[formats(for: .decode(file)), default: []].append(index)
        }
        var results = [Result<(format: String, size: PixelSize), CodecError>?](
            repeating: nil, count: files.count)
        for group in groups.values {
            for start in stride(from: 0, to: group.count, by: calotype_most_descriptors) {
                let some = group[start..<min(start + calotype_most_descriptors, group.count)]
                // What stops the worker is found, and quarantined, when each file is read alone.
                guard let sizes = try? sizes(ofGroup: some.map { files[$0] }, limits) else {
                    continue
                }
                for (index, size) in zip(some, sizes) { results[index] = size }
            }
        }
        return zip(files, results).map { file, result in
            result ?? Result { () throws(CodecError) in try size(of: file, limits: limits) }
        }
    }

    /// Reads headers in one exchange with a worker.
    ///
    /// - Parameters:
    ///   - files: at most `calotype_most_descriptors` open files whose formats the same workers decode.
    ///   - limits: the limits on each file.
    /// - Returns: the result of each file.
    /// - Throws: ``CodecError`` if the worker has not responded.
    func sizes(
        ofGroup files: [EncodedBytes], _ limits: DecodeLimits
    ) throws(CodecError) -> [Result<(format: String, size: PixelSize), CodecError>] {
        let image = workerImage(RemoteImage(files[0], limits: limits))
        var request = WorkerRequest(
            .sizes, image, byteCount: nil, body: SizesRequest.body(files, image.limits))
        request.furtherFiles = Array(files.dropFirst())
        return try perform(inspections, for: .decode(files[0]), request) {
            (reader, _) throws(WireError) in
            var results: [Result<(format: String, size: PixelSize), CodecError>] = []
            for _ in files {
                if try reader.value(Bool.self) {
                    let format = try reader.value(String.self)
                    results.append(.success((format, try PixelSize(imageFrom: &reader))))
                } else {
                    results.append(.failure(try reader.value()))
                }
            }
            return results
        }
    }
}
