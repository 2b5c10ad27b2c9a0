# SPDX-License-Identifier: Apache-2.0
# The Debian packages that each goal needs; sourced by the other scripts.
# shellcheck shell=bash disable=SC2034

build_packages=(
    libavif-dev libheif-dev libisal-dev libjpeg-dev libjxl-dev liblcms2-dev libopenjp2-7-dev
    libpangocairo-1.0-0 libpng-dev libraw-dev librsvg2-2 libseccomp-dev libsqlite3-dev libssl-dev libtiff-dev libwebp-dev libzstd-dev zlib1g-dev
)
wheel_packages=(pkg-config python3-dev python3-venv)
deb_packages=(dpkg-dev help2man libgdk-pixbuf-2.0-dev lintian pkg-config python3-dev xz-utils)
# For the trait Viewer.
viewer_packages=(libgtk-4-dev)
viewer_test_packages=(
    "${viewer_packages[@]}" at-spi2-core dbus imagemagick python3-gi python3-pyatspi python3-venv xdotool xvfb
)
viewer_bench_packages=(geeqie gthumb gwenview openbox qimgv)
# For Tests/Desktop/icons.py, which runs without those that are missing.
icon_packages=(
    adwaita-icon-theme dbus gir1.2-gtk-4.0 gtk-update-icon-cache icoutils imagemagick librsvg2-bin python3-gi xvfb
)
# For Tests/Desktop/thumbnailer.py, which runs without those that are missing.
thumbnailer_packages=(bubblewrap dbus python3-gi tumbler)
photo_packages=(mate-backgrounds)
test_packages=(
    "${build_packages[@]}" "${photo_packages[@]}"
    abigail-tools curl gir1.2-gdkpixbuf-2.0 libgdk-pixbuf-2.0-dev libjpeg-turbo-progs libpoppler-glib8 libturbojpeg0 openssl
    pkg-config python3-dev python3-gi python3-venv redis-server
)
# The package name differs on Ubuntu; any installed Chromium is sufficient.
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null; then
    if grep -q '^ID=ubuntu' /etc/os-release; then
        test_packages+=(chromium-browser)
    else
        test_packages+=(chromium)
    fi
fi
scale_packages=(default-jre-headless haproxy nginx-light python3-venv varnish)
bench_packages=(
    "${build_packages[@]}" "${photo_packages[@]}"
    fonts-dejavu-core libjpeg-turbo-progs libvips-tools python3-venv unzip
)

server_bench_packages=(
    iipimage-server libnginx-mod-http-image-filter libvips-tools nginx-light python3-venv wrk)

# Where the photographs of photo_packages are.
wallpapers=/usr/share/backgrounds/mate/nature
