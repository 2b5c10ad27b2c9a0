// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore

/// The page with the field for the password, in English or German.
struct LoginPage {
    private struct Texts {
        let language: String
        let title: String
        let password: String
        let submit: String
        let wrong: String
    }

    private static let english = Texts(
        language: "en", title: "Log in", password: "Password", submit: "Log in",
        wrong: "The password is wrong.")
    private static let german = Texts(
        language: "de", title: "Anmelden", password: "Passwort", submit: "Anmelden",
        wrong: "Das Passwort ist falsch.")

    /// A form, and nothing else.
    private static let contentSecurityPolicy =
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
        + "frame-ancestors 'none'"

    /// Makes the page.
    ///
    /// - Parameters:
    ///   - isWrong: whether a wrong password was sent.
    ///   - languages: the languages that the client accepts, the best first.
    /// - Returns: 200 with the page; 403 after a wrong password.
    static func response(isWrong: Bool, languages: String?) -> Response {
        let texts = languages?.lowercased().hasPrefix("de") == true ? german : english
        let message =
            isWrong ? "<p role=\"alert\" id=\"wrong\">\(texts.wrong)</p>\n" : ""
        let page = """
            <!doctype html>
            <html lang="\(texts.language)">
            <head>
            <meta charset="utf-8">
            <title>\(texts.title) – Calotype</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <link rel="stylesheet" href="/-/gallery/login.css">
            </head>
            <body>
            <main>
            <h1>Calotype</h1>
            <form method="post" action="/-/login">
            \(message)<label for="password">\(texts.password)</label>
            <input id="password" name="password" type="password" autocomplete="current-password" \
            required autofocus\(isWrong ? " aria-describedby=\"wrong\"" : "")>
            <button>\(texts.submit)</button>
            </form>
            </main>
            </body>
            </html>

            """
        var response = Response.ok(
            page,
            [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: contentSecurityPolicy, .vary: "Accept-Language",
            ])
        if isWrong { response.status = .forbidden }
        return response
    }
}
