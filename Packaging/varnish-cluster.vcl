vcl 4.1;
# SPDX-License-Identifier: Apache-2.0
# Varnish in front of several Calotype servers. All sizes and tiles of an original meet on one server. Add the rules of
# varnish.vcl for caching.

import directors;

backend one { .host = "10.0.0.1"; .port = "8080"; .first_byte_timeout = 65s; .probe = { .url = "/readyz"; } }
backend two { .host = "10.0.0.2"; .port = "8080"; .first_byte_timeout = 65s; .probe = { .url = "/readyz"; } }
backend three { .host = "10.0.0.3"; .port = "8080"; .first_byte_timeout = 65s; .probe = { .url = "/readyz"; } }

sub vcl_init {
    new servers = directors.shard();
    servers.add_backend(one);
    servers.add_backend(two);
    servers.add_backend(three);
    servers.reconfigure();
}

sub vcl_recv {
    # The original that a URL concerns.
    set req.http.X-Original = regsub(regsuball(req.url, "%2[Ff]", "/"), "\?.*$", "");
    if (req.http.X-Original ~ "^/iiif/") {
        set req.http.X-Original = regsub(req.http.X-Original,
            "^/iiif/[23]/(.+?)(/info\.json|/[^/]+/[^/]+/[^/]+/[^/]+)$", "/\1");
    } elsif (req.http.X-Original ~ "^/tiles/") {
        set req.http.X-Original = regsub(req.http.X-Original, "^/tiles/(.+?)(\.dzi|\.json|_files/[0-9]+/[^/]+)$", "/\1");
    } elsif (req.http.X-Original ~ "^/(info|placeholder)/") {
        set req.http.X-Original = regsub(req.http.X-Original, "^/(info|placeholder)/", "/");
    } elsif (req.http.X-Original ~ "/plain/") {
        set req.http.X-Original = regsub(req.http.X-Original, "^.*/plain/(.+?)(@[a-z0-9]+)?$", "/\1");
    } else {
        set req.http.X-Original = regsub(req.http.X-Original,
            "^/((.*/)?)([0-9]+x[0-9]*|_?x[0-9]*)(@[0-9.]+x)?(,[^/]*)?/([^/]+)$", "/\1\6");
    }
    set req.backend_hint = servers.backend(by=KEY, key=servers.key(req.http.X-Original));
}

sub vcl_backend_fetch {
    # The next server of the ring answers for one that is down.
    if (bereq.retries > 0) {
        set bereq.backend = servers.backend(
            by=KEY, key=servers.key(bereq.http.X-Original), alt=bereq.retries);
    }
}

sub vcl_backend_error {
    if (bereq.retries < 1) {
        return (retry);
    }
}

sub vcl_backend_response {
    set beresp.http.X-Server = beresp.backend.name;
}
