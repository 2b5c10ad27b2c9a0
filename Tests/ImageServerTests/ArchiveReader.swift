// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing

/// The files in an archive, by an independent reader.
func filesOfArchive(_ archive: [UInt8]) throws -> [String: [UInt8]] {
    try withTemporaryFolder { folder in
        let path = folder.appending(path: "a.zip")
        try Data(archive).write(to: path)
        let script = """
            import zipfile, json, base64, sys
            z = zipfile.ZipFile(sys.argv[1])
            assert z.testzip() is None
            print(json.dumps({i.filename: base64.b64encode(z.read(i)).decode()
                              for i in z.infolist()}))
            """
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let texts = try JSONDecoder().decode([String: String].self, from: data)
        return try texts.mapValues { Array(try #require(Data(base64Encoded: $0))) }
    }
}
