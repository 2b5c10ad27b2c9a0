// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import ImageCommands
internal import MessageDigests

struct Password: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the hash of a password, for serve --password.",
        discussion: """
            Reads one line from standard input, without showing it on a terminal, and prints its hash \
            by yescrypt. The hash does not contain the password; keep the file private anyway.

            EXAMPLES
              calotype password > ~/.config/calotype-password
              calotype serve ~/Pictures --host 0.0.0.0 --password ~/.config/calotype-password
            """)

    func run() throws {
        guard let password = Self.line(), let hash = PasswordHash(hashing: password) else {
            throw ValidationError("the password must not be empty")
        }
        print(hash.text)
    }

    /// Reads a line, without an echo on a terminal.
    private static func line() -> String? {
        var old = termios()
        let isTerminal = unsafe tcgetattr(STDIN_FILENO, &old) == 0
        guard isTerminal else { return readLine() }
        writeToStandardError("Password: ")
        var silent = old
        silent.c_lflag &= ~tcflag_t(ECHO)
        unsafe _ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            unsafe _ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &old)
            writeToStandardError("\n")
        }
        return readLine()
    }
}
