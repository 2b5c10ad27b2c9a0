#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses calotype-viewer as a person does, by keys, the pointer and the wheel in a virtual display, and checks its title,
the pixels of the screen and the files: scenarios.py FOLDER_OF_PROGRAMS [NAME]... Requires Xvfb, xdotool, ImageMagick and
dbus-run-session. Each scenario has a viewer and a folder of its own.
"""

import pathlib
import struct
import subprocess
import sys
import time

from screen import WIDTH, Screen, contents, png, png_of_rows, workspace

COLORS = {"a1.png": (200, 0, 0), "a2.png": (0, 200, 0), "a10.png": (0, 0, 200)}
# Of the quarters of an image: top left, top right, bottom left, bottom right.
QUARTERS = ((200, 40, 40), (40, 200, 40), (40, 40, 200), (200, 200, 40))
BACKGROUND, LIGHT, FRAME = (0x1C, 0x1C, 0x1E), (0xF2, 0xF2, 0xF4), (0x4A, 0x90, 0xE2)
# Cells of 192 pixels and gaps of 12 in a window of 1280x800 pixels.
STEP, LEFT, TOP = 204, (WIDTH - 6 * 204 + 12) // 2, 12
SCENARIOS = []


def quarters(width, height):
    """A PNG file whose quarters have different colours."""
    top, bottom = (bytes(one) * (width // 2) + bytes(other) * (width - width // 2)
                   for one, other in (QUARTERS[:2], QUARTERS[2:]))
    return png_of_rows(width, [top] * (height // 2) + [bottom] * (height - height // 2))


def scenario(files, first=None, **variables):
    """Declares a scenario: files by their names, the image that is opened first or None for the folder, and
    environment variables."""
    def declare(function):
        SCENARIOS.append((function, files, first, variables))
        return function
    return declare


def plain():
    return {name: png(2000, 1500, color) for name, color in COLORS.items()}


def numbered():
    return {f"p{index}.png": png(300, 200, number_color(index)) for index in range(60)}


def number_color(index):
    return (4 * index, 97 * index % 256, 200)


def shows(screen, name, position, color=None):
    screen.shows(f"{name} – {position}", color or COLORS[name])


def near(screen, x, y, color):
    return all(abs(one - other) < 12 for one, other in zip(screen.pixel(x, y), color))


def wait_for(screen, what, x, y, color):
    screen.wait(what, lambda: near(screen, x, y, color))


def cell(index):
    """The middle of a cell of the first rows."""
    return LEFT + index % 6 * STEP + 96, TOP + index // 6 * STEP + 96


def pointer(screen, *actions):
    screen.output("xdotool", *(str(action) for action in actions))


# Browsing ---------------------------------------------------------------------------------------


@scenario(plain, "a2.png")
def the_opened_image_is_first(screen, pictures):
    shows(screen, "a2.png", "2 of 3")


@scenario(plain, "a1.png")
def arrows_show_the_next_and_the_previous_image(screen, pictures):
    shows(screen, "a1.png", "1 of 3")
    for key, name, position in (("Right", "a2.png", 2), ("Right", "a10.png", 3), ("Left", "a2.png", 2)):
        screen.key(key)
        shows(screen, name, f"{position} of 3")


@scenario(plain, "a1.png")
def space_and_backspace_do_as_well(screen, pictures):
    for key, name, position in (("space", "a2.png", 2), ("BackSpace", "a1.png", 1)):
        screen.wait("the list", lambda: screen.title().endswith("of 3"))
        screen.key(key)
        shows(screen, name, f"{position} of 3")


@scenario(plain, "a2.png")
def home_and_end_show_the_first_and_the_last_image(screen, pictures):
    shows(screen, "a2.png", "2 of 3")
    screen.key("End")
    shows(screen, "a10.png", "3 of 3")
    screen.key("Home")
    shows(screen, "a1.png", "1 of 3")


@scenario(plain, "a2.png")
def escape_shows_the_grid_and_then_leaves(screen, pictures):
    shows(screen, "a2.png", "2 of 3")
    screen.key("Escape")
    for index, name in enumerate(COLORS):
        wait_for(screen, f"the cell of {name}", *cell(index), COLORS[name])
    wait_for(screen, "the frame", cell(1)[0] - 99, 108, FRAME)
    screen.key("Escape")
    if screen.viewer.wait(timeout=20) != 0:
        sys.exit("viewer: failed at its end")


@scenario(plain)
def arrows_move_the_frame_and_return_opens(screen, pictures):
    wait_for(screen, "the frame", cell(0)[0] - 99, 108, FRAME)
    screen.key("Right")
    wait_for(screen, "the frame moves", cell(1)[0] - 99, 108, FRAME)
    screen.key("Return")
    shows(screen, "a2.png", "2 of 3")
    screen.key("g")
    wait_for(screen, "the grid", *cell(0), COLORS["a1.png"])


@scenario(plain)
def a_click_selects_and_a_double_click_opens(screen, pictures):
    wait_for(screen, "the cell", *cell(2), COLORS["a10.png"])
    pointer(screen, "mousemove", *cell(2), "click", 1)
    wait_for(screen, "the frame", cell(2)[0] - 99, 108, FRAME)
    time.sleep(1)
    pointer(screen, "mousemove", *cell(1), "click", "--repeat", 2, "--delay", 60, 1)
    shows(screen, "a2.png", "2 of 3")


@scenario(numbered)
def the_wheel_scrolls_the_grid(screen, pictures):
    wait_for(screen, "the first cell", *cell(0), number_color(0))
    pointer(screen, "mousemove", *cell(0), "click", "--repeat", 30, "--delay", 10, 5)
    # The last of ten rows ends 12 pixels above the edge.
    wait_for(screen, "the last row", cell(0)[0], 692, number_color(54))
    pointer(screen, "click", "--repeat", 30, "--delay", 10, 4)
    wait_for(screen, "the first row", *cell(0), number_color(0))


@scenario(numbered)
def pages_and_ends_of_the_grid(screen, pictures):
    # Before the first frame, the window has no size, and a page one row.
    wait_for(screen, "the first cell", *cell(0), number_color(0))
    screen.wait("the list", lambda: screen.title() == "p0.png – 1 of 60")
    for key, position in (("Page_Down", 19), ("Down", 25), ("Up", 19), ("Page_Up", 1), ("End", 60), ("Home", 1)):
        screen.key(key)
        screen.wait(f"{key}", lambda: screen.title() == f"p{position - 1}.png – {position} of 60")


@scenario(lambda: {name: png(50, 50, (9, 9, 9)) for name in ("day.png", "hay.png", "many.png")})
def typing_finds_a_name(screen, pictures):
    screen.wait("the list", lambda: screen.title() == "day.png – 1 of 3")
    screen.output("xdotool", "type", "--delay", "50", "man")
    screen.wait("the name", lambda: screen.title() == "many.png – 3 of 3")


@scenario(plain, "a1.png")
def the_film_strip_shows_and_opens_neighbours(screen, pictures):
    shows(screen, "a1.png", "1 of 3")
    screen.key("t")
    wait_for(screen, "the next cell", WIDTH // 2 + 102, 746, COLORS["a2.png"])
    pointer(screen, "mousemove", WIDTH // 2 + 102, 746, "click", 1)
    screen.wait("the next image", lambda: screen.title() == "a2.png – 2 of 3")
    screen.key("t")
    shows(screen, "a2.png", "2 of 3")


@scenario(plain, "a1.png")
def the_slideshow_continues_until_it_is_ended(screen, pictures):
    shows(screen, "a1.png", "1 of 3")
    screen.key("s")
    shows(screen, "a2.png", "2 of 3")
    shows(screen, "a10.png", "3 of 3")
    screen.key("s")
    shows(screen, "a10.png", "3 of 3")
    time.sleep(5)
    shows(screen, "a10.png", "3 of 3")


@scenario(dict)
def an_empty_folder_is_no_error(screen, pictures):
    screen.wait("the folder", lambda: screen.title() == str(pictures))
    for key in ("Right", "Return", "Delete", "ctrl+z", "F2", "c", "s", "r", "5"):
        screen.key(key)
    (pictures / "a1.png").write_bytes(png(2000, 1500, COLORS["a1.png"]))
    screen.wait("the first image", lambda: screen.title() == "a1.png – 1 of 1")


# An image ---------------------------------------------------------------------------------------


def shows_quarters(screen, what, points, order=(0, 1, 2, 3)):
    for point, quarter in zip(points, order):
        wait_for(screen, f"{what}: quarter {quarter}", *point, QUARTERS[quarter])


FITTED = ((320, 200), (960, 200), (320, 600), (960, 600))
TURNED = ((500, 200), (780, 200), (500, 600), (780, 600))


@scenario(lambda: {"q.png": quarters(2000, 1500)}, "q.png")
def keys_enlarge_to_100_percent_and_fit(screen, pictures):
    shows_quarters(screen, "fitted", FITTED)
    wait_for(screen, "the background", 50, 200, BACKGROUND)
    screen.key("ctrl+1")
    wait_for(screen, "100 %", 50, 200, QUARTERS[0])
    # The image moves up by a quarter of the window.
    screen.key("Down")
    wait_for(screen, "moved", 320, 300, QUARTERS[2])
    screen.key("ctrl+0")
    wait_for(screen, "fitted again", 50, 200, BACKGROUND)
    screen.key("plus")
    wait_for(screen, "enlarged", 50, 200, QUARTERS[0])
    screen.key("minus")
    wait_for(screen, "reduced", 50, 200, BACKGROUND)


@scenario(lambda: {"q.png": quarters(2000, 1500)}, "q.png")
def the_wheel_enlarges_at_the_pointer(screen, pictures):
    shows_quarters(screen, "fitted", FITTED)
    pointer(screen, "mousemove", 320, 200, "click", "--repeat", 4, "--delay", 20, 4)
    wait_for(screen, "the quarter at the pointer", 640, 400, QUARTERS[0])
    pointer(screen, "click", "--repeat", 8, "--delay", 20, 5)
    wait_for(screen, "fitted again", 50, 200, BACKGROUND)


@scenario(lambda: {"q.png": quarters(2000, 1500)}, "q.png")
def dragging_moves_an_enlarged_image(screen, pictures):
    shows_quarters(screen, "fitted", FITTED)
    screen.key("ctrl+1")
    wait_for(screen, "100 %", 800, 200, QUARTERS[1])
    pointer(screen, "mousemove", 500, 400, "mousedown", 1, "mousemove", 600, 400, "mousemove", 800, 400,
            "mouseup", 1)
    wait_for(screen, "moved", 800, 200, QUARTERS[0])


@scenario(lambda: {"q.png": quarters(2000, 1500)}, "q.png")
def a_double_click_enlarges_and_fits(screen, pictures):
    shows_quarters(screen, "fitted", FITTED)
    pointer(screen, "mousemove", 320, 200, "click", "--repeat", 2, "--delay", 60, 1)
    wait_for(screen, "100 %", 50, 400, QUARTERS[0])
    time.sleep(1)
    pointer(screen, "mousemove", 330, 210, "click", "--repeat", 2, "--delay", 60, 1)
    wait_for(screen, "fitted again", 50, 400, BACKGROUND)


@scenario(lambda: {"q.png": quarters(2000, 1500)}, "q.png")
def holding_the_button_shows_100_percent(screen, pictures):
    shows_quarters(screen, "fitted", FITTED)
    pointer(screen, "mousemove", 320, 200, "mousedown", 1)
    wait_for(screen, "100 %", 50, 200, QUARTERS[0])
    pointer(screen, "mouseup", 1)
    wait_for(screen, "fitted again", 50, 200, BACKGROUND)


@scenario(lambda: {"small.png": png(100, 80, (200, 0, 0))}, "small.png")
def small_images_are_not_enlarged(screen, pictures):
    screen.shows("small.png – 1 of 1", (200, 0, 0))
    for x in (640 - 52, 640 + 52):
        wait_for(screen, "the background", x, 400, BACKGROUND)


@scenario(lambda: {"clear.png": png_of_rows(400, [bytes((200, 0, 0, 0)) * 400] * 300, has_alpha=True)}, "clear.png")
def transparent_images_have_a_checkerboard(screen, pictures):
    screen.wait("both squares", lambda: {screen.pixel(x, 400) for x in (600, 616)}
                == {(0x66, 0x66, 0x66), (0x99, 0x99, 0x99)})


@scenario(plain, "a1.png")
def images_are_compared_side_by_side(screen, pictures):
    shows(screen, "a1.png", "1 of 3")
    screen.key("c")
    wait_for(screen, "the first image", 320, 400, COLORS["a1.png"])
    wait_for(screen, "the second image", 960, 400, COLORS["a2.png"])
    screen.key("Escape")
    shows(screen, "a1.png", "1 of 3")


@scenario(dict)
def animations_pause_and_step(screen, pictures):
    frames = []
    for index, color in enumerate(((255, 0, 0), (0, 0, 255))):
        frames.append(pictures.parent / f"frame{index}.png")
        frames[-1].write_bytes(png(600, 400, color))
    subprocess.run(["convert", "-delay", "50", "-loop", "0", *frames, pictures / "a.gif"], check=True)
    screen.wait("the list", lambda: screen.title() == "a.gif – 1 of 1")
    screen.key("Return")
    for color in ((255, 0, 0), (0, 0, 255), (255, 0, 0)):
        wait_for(screen, f"the frame {color}", 640, 400, color)
    screen.key("p")
    time.sleep(1)
    shown = screen.pixel(640, 400)
    time.sleep(1.2)
    if screen.pixel(640, 400) != shown:
        sys.exit("viewer: the animation is not paused")
    screen.key("period")
    wait_for(screen, "the next frame", 640, 400, tuple(255 - part if part != 0 or index != 1 else 0
                                                        for index, part in enumerate(shown)))


LEVELS = ((200, 0, 0), (0, 200, 0), (0, 0, 200))


def texture():
    """A DDS file of 256x256 pixels, whose mip levels have different colours."""
    header = struct.pack("<4s7I44x8I16x", b"DDS ", 124, 0x2100F, 256, 256, 1024, 0, len(LEVELS), 32, 0x40, 0, 24,
                         0xFF0000, 0xFF00, 0xFF, 0) + bytes(4)
    return {"t.dds": header + b"".join(bytes(color[::-1]) * (256 >> level) ** 2 for level, color in enumerate(LEVELS))}


@scenario(texture, "t.dds")
def keys_step_through_mip_levels_and_pages(screen, pictures):
    shows(screen, "t.dds", "1 of 1", LEVELS[0])
    steps = [("period", 2), ("period", 3), ("period", 1), ("comma", 3), ("comma", 2)]
    for key, number in steps:
        screen.key(key)
        shows(screen, "t.dds", f"1 of 1, page {number} of 3", LEVELS[number - 1])
        # Each level takes the place of the largest.
        wait_for(screen, "the edge", 640 + 124, 400 + 124, LEVELS[number - 1])
        wait_for(screen, "the background", 640 + 132, 400, BACKGROUND)
    screen.key("ctrl+1")
    screen.key("i")
    screen.wait("the properties", lambda: not near(screen, WIDTH - 300, 25, BACKGROUND))
    pages = [pictures.parent / f"page{index}.png" for index in range(2)]
    for page, color in zip(pages, LEVELS):
        page.write_bytes(png(300, 200, color))
    subprocess.run(["convert", *pages, pictures / "u.tif"], check=True)
    screen.wait("the document", lambda: screen.title() == "t.dds – 1 of 2, page 2 of 3")
    screen.key("Right")
    shows(screen, "u.tif", "2 of 2", LEVELS[0])
    screen.key("period")
    shows(screen, "u.tif", "2 of 2, page 2 of 2", LEVELS[1])


@scenario(lambda: dict(plain(), **{"broken.jpg": b"text"}), "a10.png")
def a_broken_file_states_why(screen, pictures):
    shows(screen, "a10.png", "3 of 4")
    screen.key("End")
    screen.wait("the broken file", lambda: screen.title() == "broken.jpg – 4 of 4")
    wait_for(screen, "no image", 640, 100, BACKGROUND)
    screen.key("Left")
    shows(screen, "a10.png", "3 of 4")


@scenario(plain, "a2.png")
def panels_appear_and_vanish(screen, pictures):
    shows(screen, "a2.png", "2 of 3")
    for key, x in (("question", 300), ("e", 300), ("i", WIDTH - 300)):
        before = screen.pixel(x, 25)
        screen.key(key)
        screen.wait(f"the panel of {key}", lambda: screen.pixel(x, 25) != before)
        screen.key(key)
        wait_for(screen, f"no panel of {key}", x, 25, before)


# Changes of files -------------------------------------------------------------------------------


def undo(screen, pictures, before):
    screen.key("ctrl+z")
    screen.wait("undo", lambda: contents(pictures) == before)


@scenario(plain, "a2.png")
def the_trash_is_undone(screen, pictures):
    before = contents(pictures)
    shows(screen, "a2.png", "2 of 3")
    screen.key("Delete")
    shows(screen, "a10.png", "2 of 2")
    trash = pictures.parent / "data/Trash"
    if contents(trash / "files") != {"a2.png": before["a2.png"]} or not (trash / "info/a2.png.trashinfo").exists():
        sys.exit("viewer: a2.png is not in the trash")
    undo(screen, pictures, before)
    shows(screen, "a2.png", "2 of 3")


@scenario(plain, "a1.png")
def ratings_are_written_beside_the_image(screen, pictures):
    before = contents(pictures)
    shows(screen, "a1.png", "1 of 3")
    screen.key("5")
    shows(screen, "a2.png", "2 of 3")
    sidecar = pictures / "a1.png.xmp"
    screen.wait("the sidecar", sidecar.exists)
    if b"Rating" not in sidecar.read_bytes():
        sys.exit("viewer: no rating in the sidecar")
    undo(screen, pictures, before)


@scenario(plain, "a1.png")
def rejected_images_are_reviewed(screen, pictures):
    before = contents(pictures)
    shows(screen, "a1.png", "1 of 3")
    screen.key("x")
    shows(screen, "a2.png", "2 of 3")
    screen.key("x")
    shows(screen, "a10.png", "3 of 3")
    rejected = contents(pictures)
    screen.key("v")
    screen.key("Escape")
    screen.key("v")
    if contents(pictures) != rejected:
        sys.exit("viewer: files were moved without confirmation")
    screen.key("Return")
    shows(screen, "a10.png", "1 of 1")
    undo(screen, pictures, rejected)
    screen.key("ctrl+z")
    undo(screen, pictures, before)


@scenario(plain, "a2.png")
def images_are_moved_and_copied_to_folders(screen, pictures):
    before = contents(pictures)
    shows(screen, "a2.png", "2 of 3")
    screen.key("ctrl+alt+2")
    screen.wait("the copy", lambda: contents(pictures).get("2/a2.png") == before["a2.png"])
    screen.key("alt+1")
    shows(screen, "a10.png", "2 of 2")
    screen.wait("the move", lambda: contents(pictures).get("1/a2.png") == before["a2.png"])
    screen.key("ctrl+z")
    undo(screen, pictures, before)


@scenario(plain, "a2.png")
def images_are_renamed_in_a_dialog(screen, pictures):
    before = contents(pictures)
    screen.wait("the list", lambda: screen.title() == "a2.png – 2 of 3")
    screen.key("F2")
    screen.wait("the dialog", lambda: "rename" in screen.titles())
    # Without a window manager, the window under the pointer receives the keys.
    pointer(screen, "mousemove", 20, 17)
    screen.output("xdotool", "type", "z2")
    screen.key("Return")
    screen.wait("the new name", lambda: screen.title() == "z2.png – 3 of 3")
    undo(screen, pictures, before)


@scenario(dict)
def photographs_are_turned_without_loss(screen, pictures):
    (pictures.parent / "q.png").write_bytes(quarters(2000, 1500))
    subprocess.run(["convert", "-quality", "95", pictures.parent / "q.png", pictures.parent / "q.jpg"], check=True)
    (pictures.parent / "q.jpg").rename(pictures / "q.jpg")
    before = contents(pictures)
    screen.wait("the list", lambda: screen.title() == "q.jpg – 1 of 1")
    screen.key("Return")
    shows_quarters(screen, "as it was", FITTED)
    screen.key("r")
    shows_quarters(screen, "turned right", TURNED, (2, 0, 3, 1))
    screen.key("R")
    shows_quarters(screen, "turned back", FITTED)
    screen.key("R")
    shows_quarters(screen, "turned left", TURNED, (1, 3, 0, 2))
    for _ in range(3):
        screen.key("ctrl+z")
    screen.wait("undo", lambda: contents(pictures) == before)


# The desktop ------------------------------------------------------------------------------------


@scenario(plain, "a1.png")
def changes_by_other_programs_appear(screen, pictures):
    shows(screen, "a1.png", "1 of 3")
    (pictures / "new").write_bytes(png(20, 20, (9, 9, 9)))
    (pictures / "new").rename(pictures / "a0.png")
    screen.wait("the new image", lambda: screen.title() == "a1.png – 2 of 4")
    (pictures / "a1.png").write_bytes(png(2000, 1500, (90, 90, 0)))
    screen.shows("a1.png – 2 of 4", (90, 90, 0))
    (pictures / "a1.png").unlink()
    shows(screen, "a2.png", "2 of 3")


@scenario(plain)
def cells_of_files_that_are_written_again_change(screen, pictures):
    wait_for(screen, "the cell", *cell(1), COLORS["a2.png"])
    (pictures / "a2.png").write_bytes(png(2000, 1500, (90, 90, 0)))
    wait_for(screen, "the new cell", *cell(1), (90, 90, 0))


@scenario(lambda: dict(plain(), **{"../configuration/calotype/keys": b"j = next\n"}), "a1.png")
def a_file_changes_the_keys(screen, pictures):
    shows(screen, "a1.png", "1 of 3")
    screen.key("j")
    shows(screen, "a2.png", "2 of 3")


@scenario(plain, LC_ALL="ar_SA.UTF-8")
def the_first_image_is_at_the_right_in_arabic(screen, pictures):
    for index, name in enumerate(COLORS):
        wait_for(screen, f"the cell of {name}", *cell(5 - index), COLORS[name])
    screen.key("Left")
    # Without that locale, X11 has no title in its characters.
    wait_for(screen, "the frame moves", cell(4)[0] - 99, 108, FRAME)


@scenario(plain, GTK_THEME="Adwaita:dark")
def the_grid_is_dark_in_a_dark_theme(screen, pictures):
    wait_for(screen, "the background", 2, 2, BACKGROUND)


@scenario(plain)
def the_grid_is_light_in_a_light_theme(screen, pictures):
    wait_for(screen, "the background", 2, 2, LIGHT)


@scenario(lambda: {"ä b%20#?\n.png": png(2000, 1500, (200, 0, 0)), "日本.png": png(2000, 1500, (0, 0, 200))},
          "日本.png")
def names_may_contain_any_character(screen, pictures):
    screen.shows("日本.png – 1 of 2" if "日本.png" < "ä" else "日本.png – 2 of 2", (0, 0, 200))
    screen.key("Home")
    screen.wait("the other name", lambda: near(screen, 640, 400, (200, 0, 0)))


@scenario(plain)
def cairo_draws_without_the_driver_of_opengl(screen, pictures):
    wait_for(screen, "the first cell", *cell(0), COLORS["a1.png"])
    children = pathlib.Path(f"/proc/{screen.viewer.pid}/task/{screen.viewer.pid}/children").read_text().split()
    loaded = "".join(pathlib.Path(f"/proc/{child}/maps").read_text() for child in children)
    if "libgtk-4" not in loaded or "_mesa" in loaded or "libLLVM" in loaded:
        sys.exit("viewer: a driver of OpenGL is loaded")


def run(programs, function, files, first, variables):
    with workspace() as (work, pictures):
        for name, data in files().items():
            (pictures / name).parent.mkdir(parents=True, exist_ok=True)
            (pictures / name).write_bytes(data)
        screen = Screen(programs, work, pictures / first if first else pictures, **variables)
        try:
            function(screen, pictures)
        finally:
            screen.close()


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    selected = [scenario for scenario in SCENARIOS if not sys.argv[2:] or scenario[0].__name__ in sys.argv[2:]]
    for function, *arguments in selected:
        start = time.monotonic()
        print(f"viewer: {function.__name__.replace('_', ' ')}", end="", flush=True)
        run(programs, function, *arguments)
        print(f" ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"viewer: {len(selected)} scenarios passed")


main()
