#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses calotype-viewer through AT-SPI, by roles, names, focus and actions alone, as a screen reader does, in the
scenarios that scenarios.py performs by the pixels of the screen: accessibility.py FOLDER_OF_PROGRAMS. Requires
python3-pyatspi and at-spi2-core in addition to the programs of screen.py.
"""

import subprocess
import sys
import time
import zipfile

from screen import contents, png, run_in_session

NAMES = [f"m{index}.png" for index in range(1, 9)]
SCENARIOS = []


def scenario(function):
    """Declares a scenario, which starts and ends in the grid of eight images with the focus on the first."""
    SCENARIOS.append(function)
    return function


# The tree ---------------------------------------------------------------------------------------


def search(condition):
    """The first widget that meets a condition, or None."""
    import pyatspi

    def visit(widget):
        try:
            if condition(widget):
                return widget
            for index in range(widget.childCount):
                found = visit(widget.getChildAtIndex(index))
                if found:
                    return found
        except Exception:  # The widget has vanished.
            return None
        return None
    desktop = pyatspi.Registry.getDesktop(0)
    for index in range(desktop.childCount):
        program = desktop.getChildAtIndex(index)
        found = visit(program) if program else None
        if found:
            return found
    return None


def wait(condition, what, seconds=20):
    """Polls until a condition has a value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    return sys.exit(f"viewer: {what}: not found within {seconds} s")


def find(condition, what):
    """Polls the tree of the viewer until a widget meets a condition."""
    return wait(lambda: search(condition), what)


def is_focused(widget):
    import pyatspi
    return widget.getState().contains(pyatspi.STATE_FOCUSED)


def is_image(widget):
    return widget.getRoleName() in ("image", "icon")


def is_cell(widget):
    return "cell" in widget.getRoleName()


def find_named(name, condition, what=None):
    """Finds a widget by its name and a condition."""
    return find(lambda widget: widget.name == name and condition(widget), what or name)


def find_cell(name):
    """Finds a cell that has the focus."""
    return find_named(name, lambda widget: is_cell(widget) and is_focused(widget), f"the focus on {name}")


def find_image(name):
    return find_named(name, lambda widget: is_image(widget) and is_focused(widget), f"the image {name}")


def has_vanished(name, condition):
    wait(lambda: search(lambda widget: widget.name == name and condition(widget)) is None, f"no {name}")


def press(*keys):
    subprocess.run(["xdotool", "key", *keys], check=True)


def point(*arguments):
    subprocess.run(["xdotool", *(str(argument) for argument in arguments)], check=True)


def act(widget):
    """Performs the action of a widget."""
    widget.queryAction().doAction(0)


def check_files(pictures, before):
    wait(lambda: contents(pictures) == before, "the files as they were")


# Browsing ---------------------------------------------------------------------------------------


@scenario
def cells_have_names_and_numbers(pictures):
    for index, name in enumerate(NAMES):
        find_named(f"{name}, {index + 1} of 8", is_cell)


@scenario
def the_window_has_the_name_of_the_image(pictures):
    find(lambda widget: widget.name == "m1.png – 1 of 8" and widget.getRoleName() in ("frame", "window"), "the window")


@scenario
def the_first_cell_has_the_focus(pictures):
    find_cell("m1.png, 1 of 8")


@scenario
def arrows_move_the_focus(pictures):
    for key, cell in (("Right", "m2.png, 2 of 8"), ("Down", "m8.png, 8 of 8"), ("Up", "m2.png, 2 of 8"),
                      ("Left", "m1.png, 1 of 8")):
        press(key)
        find_cell(cell)


@scenario
def home_and_end_move_the_focus(pictures):
    press("End")
    find_cell("m8.png, 8 of 8")
    press("Home")
    find_cell("m1.png, 1 of 8")


@scenario
def typing_moves_the_focus_to_a_name(pictures):
    point("type", "--delay", 50, "m7")
    find_cell("m7.png, 7 of 8")
    press("Home")


@scenario
def cells_have_sizes(pictures):
    place = find_named("m5.png, 5 of 8", is_cell).queryComponent().getExtents(1)
    if place.width < 150 or place.height < 150:
        sys.exit(f"viewer: the cell of m5.png has the size {place.width} x {place.height}")


@scenario
def the_action_of_a_cell_opens_its_image(pictures):
    act(find_named("m5.png, 5 of 8", is_cell))
    find_image("m5.png, 5 of 8")
    press("g", "Home")


@scenario
def return_opens_and_escape_closes(pictures):
    press("Return")
    find_image("m1.png, 1 of 8")
    has_vanished("m2.png, 2 of 8", is_cell)
    press("Escape")
    find_cell("m1.png, 1 of 8")


@scenario
def arrows_show_the_next_and_the_previous_image(pictures):
    press("Return")
    for key, name in (("Right", "m2.png, 2 of 8"), ("Right", "m3.png, 3 of 8"), ("Left", "m2.png, 2 of 8")):
        press(key)
        find_image(name)
    press("g", "Home")


@scenario
def space_and_backspace_do_as_well(pictures):
    press("Return", "space")
    find_image("m2.png, 2 of 8")
    press("BackSpace")
    find_image("m1.png, 1 of 8")
    press("g")


@scenario
def enlarged_images_stay_the_same(pictures):
    press("Return", "ctrl+1", "plus", "minus", "ctrl+0")
    find_image("m1.png, 1 of 8")
    press("g")


@scenario
def the_film_strip_has_cells(pictures):
    press("Return", "t")
    find_named("m2.png, 2 of 8", is_cell, "a cell of the film strip")
    find_image("m1.png, 1 of 8")
    press("t")
    has_vanished("m2.png, 2 of 8", is_cell)
    press("g")


@scenario
def the_action_of_a_cell_of_the_film_strip_opens_its_image(pictures):
    press("Return", "t")
    act(find_named("m3.png, 3 of 8", is_cell, "a cell of the film strip"))
    find_image("m3.png, 3 of 8")
    press("t", "g", "Home")


@scenario
def compared_images_have_names(pictures):
    press("Return")
    for index in range(3):
        press("c")
        for name in NAMES[:index + 2]:
            find_named(f"{name}, {NAMES.index(name) + 1} of 8", is_image, f"the compared image {name}")
    press("Escape")
    has_vanished("m2.png, 2 of 8", is_image)
    find_image("m1.png, 1 of 8")
    press("g")


@scenario
def the_slideshow_shows_the_next_image(pictures):
    press("s")
    find_image("m1.png, 1 of 8")
    find_image("m2.png, 2 of 8")
    press("s", "g", "Home")


@scenario
def panels_keep_the_image(pictures):
    press("Return", "i", "e", "question")
    find_image("m1.png, 1 of 8")
    press("question", "i", "e", "g")


@scenario
def the_window_fills_the_screen_and_returns(pictures):
    press("F11")
    find_cell("m1.png, 1 of 8")
    press("F11")
    find_cell("m1.png, 1 of 8")


# Changes of files -------------------------------------------------------------------------------


@scenario
def the_trash_moves_the_focus(pictures):
    press("Delete")
    find_cell("m2.png, 1 of 7")
    press("ctrl+z")


@scenario
def undo_restores_the_cell(pictures):
    before = contents(pictures)
    press("End", "Delete")
    find_cell("m7.png, 7 of 7")
    press("ctrl+z")
    find_cell("m8.png, 8 of 8")
    check_files(pictures, before)
    press("Home")


@scenario
def the_dialog_has_an_entry_with_the_name(pictures):
    press("F2")
    entry = find(lambda widget: widget.getRoleName() in ("text", "entry") and is_focused(widget), "the new name")
    text = entry.queryText()
    if text.getText(0, text.characterCount) != "m1.png":
        sys.exit(f"viewer: the entry contains {text.getText(0, text.characterCount)!r}")
    # Without a window manager, the window under the pointer receives the keys.
    point("mousemove", 20, 17, "key", "Escape")
    wait(lambda: search(lambda widget: widget.getRoleName() in ("text", "entry")) is None, "no dialog")


@scenario
def renamed_images_have_cells_under_their_new_names(pictures):
    before = contents(pictures)
    press("F2")
    find(lambda widget: widget.getRoleName() in ("text", "entry") and is_focused(widget), "the new name")
    point("mousemove", 20, 17, "type", "m9")
    press("Return")
    find_cell("m9.png, 8 of 8")
    press("ctrl+z")
    find_cell("m1.png, 1 of 8")
    check_files(pictures, before)


@scenario
def ratings_continue_with_the_next_image(pictures):
    before = contents(pictures)
    press("Return", "4")
    find_image("m2.png, 2 of 8")
    if not (pictures / "m1.png.xmp").exists():
        sys.exit("viewer: no rating in a sidecar")
    press("ctrl+z")
    check_files(pictures, before)
    press("g", "Home")


@scenario
def rejected_images_are_reviewed(pictures):
    before = contents(pictures)
    press("Return", "x", "x")
    find_image("m3.png, 3 of 8")
    press("v", "Return")
    find_image("m3.png, 1 of 6")
    press("ctrl+z", "ctrl+z", "ctrl+z")
    check_files(pictures, before)
    press("g", "Home")


@scenario
def images_are_moved_to_folders(pictures):
    before = contents(pictures)
    press("alt+1")
    find_cell("m2.png, 1 of 7")
    if not (pictures / "1/m1.png").exists():
        sys.exit("viewer: m1.png was not moved")
    press("ctrl+z")
    find_cell("m1.png, 1 of 8")
    check_files(pictures, before)


@scenario
def images_are_copied_to_folders(pictures):
    before = contents(pictures)
    press("ctrl+alt+2")
    wait((pictures / "2/m1.png").exists, "the copy")
    find_cell("m1.png, 1 of 8")
    press("ctrl+z")
    check_files(pictures, before)


@scenario
def files_that_other_programs_delete_have_no_cells(pictures):
    data = (pictures / "m3.png").read_bytes()
    (pictures / "m3.png").unlink()
    find_named("m4.png, 3 of 7", is_cell, "the cell after one that another program deleted")
    find_cell("m1.png, 1 of 7")
    (pictures / "m3.png").write_bytes(data)
    find_cell("m1.png, 1 of 8")


@scenario
def files_of_other_programs_have_cells(pictures):
    (pictures / "new").write_bytes(png(320, 240, (9, 9, 9)))
    (pictures / "new").rename(pictures / "m0.png")
    find_named("m0.png, 1 of 9", is_cell, "the cell of a file of another program")
    find_cell("m1.png, 2 of 9")
    (pictures / "m0.png").unlink()
    find_cell("m1.png, 1 of 8")


@scenario
def a_broken_file_has_a_name(pictures):
    (pictures / "m9.png").write_bytes(b"text")
    find_named("m9.png, 9 of 9", is_cell, "the cell of a broken file")
    press("End", "Return")
    find_image("m9.png, 9 of 9")
    press("g")
    (pictures / "m9.png").unlink()
    find_cell("m8.png, 8 of 8")
    press("Home")


# Other folders ----------------------------------------------------------------------------------


def open_another(viewer, *arguments):
    """Opens something in the window by another process."""
    subprocess.run([viewer.args[0], *arguments], check=True, stderr=subprocess.DEVNULL, timeout=20)


def scrolled_cells_have_names(viewer, folder):
    for index in range(60):
        (folder / f"n{index}.png").write_bytes(png(30, 20, (4 * index, 9, 9)))
    open_another(viewer, folder)
    find_cell("n0.png, 1 of 60")
    press("End")
    find_cell("n59.png, 60 of 60")
    has_vanished("n0.png, 1 of 60", is_cell)
    press("Page_Up", "Page_Up", "Page_Up", "Home")
    find_cell("n0.png, 1 of 60")
    point("mousemove", 400, 300, "click", "--repeat", 30, "--delay", 10, 5)
    find_named("n59.png, 60 of 60", is_cell, "the last cell after scrolling")


def images_of_an_archive_have_names(viewer, folder):
    with zipfile.ZipFile(folder / "album.zip", "w") as archive:
        for name in ("a.png", "trip/b.png"):
            archive.writestr(name, png(30, 20, (9, 9, 90)))
    open_another(viewer, folder / "album.zip")
    find_cell("a.png, 1 of 2")
    act(find_named("trip/b.png, 2 of 2", is_cell))
    find_image("trip/b.png, 2 of 2")


def escape_leaves_the_viewer(viewer, folder):
    press("Escape", "Escape")
    if viewer.wait(timeout=20) != 0:
        sys.exit("viewer: failed at its end")


def run(programs, work):
    pictures, other = work / "pictures", work / "other"
    other.mkdir()
    viewer = subprocess.Popen([programs / "calotype-viewer", pictures], stderr=subprocess.DEVNULL)
    try:
        for function in SCENARIOS:
            print(f"viewer: {function.__name__.replace('_', ' ')}", flush=True)
            function(pictures)
        last = (scrolled_cells_have_names, images_of_an_archive_have_names, escape_leaves_the_viewer)
        for function in last:
            print(f"viewer: {function.__name__.replace('_', ' ')}", flush=True)
            function(viewer, other)
    finally:
        viewer.kill()
    print(f"viewer: {len(SCENARIOS) + len(last)} scenarios passed by role, name, focus and action")


def prepare(pictures):
    for index, name in enumerate(NAMES):
        (pictures / name).write_bytes(png(320, 240, (20 * index, 80, 120)))


run_in_session(run, prepare)
