// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import LoadScheduling

extension ImageResponder {
    /// Answers a request, and once more if an original was written to while it was read.
    ///
    /// - Parameters:
    ///   - request: the request; one with a body is not answered again, because that has been read.
    ///   - answer: looks at the file system from the start.
    /// - Returns: the response of `answer`.
    /// - Throws: what `answer` throws; of a file that is still being written
    ///   ``ServerError/changedMeanwhile`` or ``LoadError/fileChanged(path:)``.
    func onceMoreIfChanged(
        _ request: Request, _ answer: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await answer()
        } catch  where Self.isChange(error) && request.method != .post {
            return try await answer()
        }
    }

    /// Throws unless a file is still the one that was looked at.
    ///
    /// - Throws: ``ServerError/changedMeanwhile``.
    func checkCurrent(_ identity: FileIdentity) async throws {
        let isCurrent = try await disk {
            (try? FileIdentity(path: identity.path)) == identity
        }
        guard isCurrent else { throw ServerError.changedMeanwhile }
    }

    /// Whether an original was written to while it was read.
    static func isChange(_ error: any Error) -> Bool {
        switch error {
        case LoadError.fileChanged, ServerError.changedMeanwhile: true
        default: false
        }
    }
}
