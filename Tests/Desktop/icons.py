#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the icons of calotype-assets with the programs that use them: icons.py PROGRAMS

- `icotool` lists the sizes of favicon.ico and extracts them.
- Chromium parses the manifest without an error, and decodes its icons (needs Playwright).
- `gtk-update-icon-cache` accepts the icon theme, and finds its icons.
- Vectors of a catalog have the pixels that `rsvg-convert` draws, if the program has the trait SVG.
- A symbolic icon of the theme is drawn in a window of GTK 4 in the colour of its text, exactly as the same
  icon of Adwaita.

A program that is not installed is reported, and its check is skipped.
"""
import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

ADWAITA = pathlib.Path("/usr/share/icons/Adwaita")
SYMBOLIC = "edit-find-symbolic"
COLOR = (208, 16, 32)

WINDOW = """
import subprocess
import sys
import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, GLib, Gtk
folder, theme_name, name, output = sys.argv[1:]
Gtk.init()
style = Gtk.CssProvider()
style.load_from_data(b"image { color: rgb(208, 16, 32); } window { background: white; }")
Gtk.StyleContext.add_provider_for_display(Gdk.Display.get_default(), style, 800)
theme = Gtk.IconTheme()
theme.set_search_path([folder])
theme.set_theme_name(theme_name)
icon = theme.lookup_icon(name, None, 128, 1, Gtk.TextDirection.LTR, 0)
print(icon.get_file().get_path(), icon.is_symbolic(), flush=True)
image = Gtk.Image.new_from_paintable(icon)
image.set_pixel_size(128)
window = Gtk.Window(child=image, decorated=False, default_width=160, default_height=160)
window.present()
loop = GLib.MainLoop()

def save():
    subprocess.run(["import", "-window", "root", "-crop", "160x160+0+0", "-depth", "8", "rgb:" + output],
                   check=True)
    with open(output, "rb") as file:
        # Until the icon is drawn, the window is white or missing.
        if len(set(zip(*[iter(file.read())] * 3))) < 3:
            return True
    loop.quit()
    return False

GLib.timeout_add(100, save)
GLib.timeout_add_seconds(60, loop.quit)
loop.run()
"""


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True,
                          text=True, **options).stdout


def expect(condition, what):
    if not condition:
        sys.exit(f"icons: {what}")


def has(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        print(f"icons: skipped: {', '.join(missing)} is missing")
    return not missing


def pixels(path):
    """The samples of an image as RGBA, read by ImageMagick."""
    return subprocess.run(["convert", str(path), "-depth", "8", "rgba:-"], check=True,
                          capture_output=True).stdout


def check_favicon(public, work):
    listed = run("icotool", "--list", public / "favicon.ico").splitlines()
    sizes = [word for line in listed for word in line.split() if word.startswith("--width=")]
    expect(sizes == ["--width=16", "--width=32", "--width=48"], f"icotool lists {listed}")
    run("icotool", "--extract", "--output", work, public / "favicon.ico")
    extracted = sorted(work.glob("favicon_*.png"))
    expect(len(extracted) == 3, f"icotool extracts {extracted}")
    for side in (16, 32, 48):
        expect(any(len(pixels(path)) == side * side * 4 for path in extracted), f"no {side}x{side}")
    print("icons: icotool reads favicon.ico")


def check_manifest(public, elements, chromium):
    """Chromium parses the manifest of a page with the elements, and decodes the icons that it names."""
    from playwright.sync_api import sync_playwright

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    (public / "index.html").write_text(f"<!doctype html><html><head>{elements}</head></html>")
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(public)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{origin}/index.html")
        answer = page.context.new_cdp_session(page).send("Page.getAppManifest")
        expect(answer["errors"] == [], f"Chromium: {answer['errors']}")
        expect(answer["url"] == f"{origin}/manifest.webmanifest", f"Chromium reads {answer['url']}")
        icons = json.loads(answer["data"])["icons"]
        expect([icon["purpose"] for icon in icons] == ["any", "any", "maskable"], f"purposes: {icons}")
        for name, side in [*((icon["src"], int(icon["sizes"].split("x")[0])) for icon in icons),
                           ("apple-touch-icon.png", 180)]:
            size = page.evaluate("""async name => { const image = new Image(); image.src = name;
                await image.decode(); return [image.naturalWidth, image.naturalHeight]; }""", name)
            expect(size == [side, side], f"Chromium decodes {name} as {size}")
        browser.close()
    server.shutdown()
    print("icons: Chromium accepts the manifest, and decodes the icons")


def check_cache(theme):
    run("gtk-update-icon-cache", "--force", "--ignore-theme-index", theme)
    (theme / "icon-theme.cache").unlink()
    run("gtk-update-icon-cache", "--force", theme)
    run("gtk-update-icon-cache", "--validate", theme)
    expect(SYMBOLIC.encode() in (theme / "icon-theme.cache").read_bytes(), "no symbolic icon in the cache")
    print("icons: gtk-update-icon-cache accepts the theme")


def check_colors(themes, work):
    drawn = []
    script = work / "window.py"
    script.write_text(WINDOW)
    environment = dict(os.environ, GSK_RENDERER="cairo", GDK_BACKEND="x11", NO_AT_BRIDGE="1")
    # Adwaita has a drawing only for this size, and files of pixels for smaller ones.
    for folder, theme in [(themes, "Ours"), (ADWAITA.parent, "Adwaita")]:
        output = work / f"window{theme}.rgb"
        path = run("xvfb-run", "-a", "dbus-run-session", "--", "/usr/bin/python3", script, folder, theme,
                   SYMBOLIC, output, env=environment).splitlines()[0]
        expect(path.startswith(f"{folder / theme}/") and path.endswith("True"), f"{theme}: the icon is {path}")
        drawn.append(output.read_bytes())
    expect(drawn[0] == drawn[1], "the icon is drawn in another way than that of Adwaita")
    colors = set(zip(*[iter(drawn[0])] * 3))
    expect(COLOR in colors and (0, 0, 0) not in colors, f"{len(colors)} colours without {COLOR}")
    # Edges are mixtures of the colour and white, so that red is never darker than that of the colour.
    expect(all(red >= COLOR[0] and green >= COLOR[1] for red, green, _ in colors), f"the colours {colors}")
    print("icons: GTK 4 draws the symbolic icon in the colour of its text, as that of Adwaita")


def premultiplied(path):
    samples = pixels(path)
    return [(samples[i + channel] * samples[i + 3] + 127) // 255 if channel < 3 else samples[i + 3]
            for i in range(0, len(samples), 4) for channel in range(4)]


def check_vectors(assets, work):
    """The sandboxed codec draws vectors at all scales as rsvg-convert does."""
    names = ["actions/edit-find-symbolic", "mimetypes/application-certificate-symbolic", "places/folder-symbolic"]
    catalog = work / "Vectors.xcassets"
    drawings = {}
    for name in names:
        drawing = ADWAITA / f"scalable/{name}.svg"
        if not drawing.exists():
            continue
        drawings[drawing.stem] = drawing
        folder = catalog / f"{drawing.stem}.imageset"
        folder.mkdir(parents=True)
        shutil.copyfile(drawing, folder / "a.svg")
        (folder / "Contents.json").write_text(json.dumps({"images": [{"filename": "a.svg"}]}))
    expect(len(drawings) > 1, "drawings of Adwaita are missing")
    report = work / "vectors.json"
    run(assets, "compile", catalog, "-o", work / "vectors.assets", "--report", report)
    entries = json.loads(report.read_text())
    if any("SVG" in entry["reason"] for entry in entries):
        print("icons: skipped: the program has no codec for SVG")
        return
    expect(all(entry["compression"] == "rasters" for entry in entries), f"vectors: {entries}")
    run(assets, "extract", work / "vectors.assets", "-o", work / "drawn")
    for name, drawing in drawings.items():
        for scale in (1, 2, 3):
            peer = work / f"{name}-{scale}.png"
            run("rsvg-convert", "-z", scale, "-o", peer, drawing)
            ours = premultiplied(work / f"drawn/{name}/a{f'@{scale}x' if scale > 1 else ''}.png")
            theirs = premultiplied(peer)
            expect(len(ours) == len(theirs) and max(theirs) > 0, f"{name} at {scale}: other sizes")
            # Straight samples of pixels that are almost transparent are rounded.
            difference = max(abs(one - other) for one, other in zip(ours, theirs))
            expect(difference <= 1, f"{name} at {scale}: samples differ by {difference}")
    icons = json.loads(run(assets, "icons", drawings["edit-find-symbolic"], "-o", work / "vector-icons",
                           "--json"))["files"]
    expect("icon.svg" in icons, f"icons of a drawing: {icons}")
    print(f"icons: {len(drawings)} drawings have the pixels of rsvg-convert at three scales")


def main():
    assets = pathlib.Path(sys.argv[1]).resolve() / "calotype-assets"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        logo = work / "logo.png"
        run("convert", "-size", "600x600", "xc:none", "-fill", "#3060c0", "-draw", "circle 300,300 300,40", logo)
        public = work / "public"
        elements = run(assets, "icons", logo, "-o", public)
        if has("icotool"):
            check_favicon(public, work)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if chromium:
            check_manifest(public, elements, chromium)
        else:
            print("icons: skipped: Chromium is missing")

        drawing = ADWAITA / f"scalable/actions/{SYMBOLIC}.svg"
        symbol = work / "A.xcassets" / f"{SYMBOLIC}.imageset"
        symbol.mkdir(parents=True)
        shutil.copyfile(drawing, symbol / "a.svg")
        (symbol / "Contents.json").write_text(json.dumps({
            "images": [{"filename": "a.svg"}],
            "properties": {"template-rendering-intent": "template"}}))
        image = work / "A.xcassets" / "Logo.imageset"
        image.mkdir()
        shutil.copyfile(logo, image / "a.png")
        (image / "Contents.json").write_text(json.dumps({"images": [{"filename": "a.png", "scale": "1x"}]}))
        themes = work / "icons"
        run(assets, "theme", work / "A.xcassets", "-o", themes / "Ours/")
        index = (themes / "Ours/index.theme").read_text()
        expect("\nName=Ours\n" in index, "the theme has no name")
        if has("gtk-update-icon-cache"):
            check_cache(themes / "Ours")
        if has("rsvg-convert"):
            check_vectors(assets, work)
        if has("xvfb-run", "dbus-run-session", "import"):
            check_colors(themes, work)


if __name__ == "__main__":
    main()
