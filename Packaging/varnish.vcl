vcl 4.1;
# SPDX-License-Identifier: Apache-2.0
# Varnish as a caching proxy for Calotype.

backend calotype {
    .path = "/run/calotype/http.sock";
    .first_byte_timeout = 65s;
    .probe = {
        .url = "/readyz";
        .interval = 5s;
        .timeout = 2s;
    }
}

sub vcl_recv {
    if (req.url == "/metrics" || req.url == "/readyz") {
        return (synth(404));
    }
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
    # Range requests are passed; Varnish would fetch the whole file for the first of them.
    if (req.http.Range) {
        return (pass);
    }
    # One variant for each of the formats in --formats.
    if (req.http.Accept ~ "image/avif") {
        set req.http.Accept = "image/avif,image/webp";
    } elsif (req.http.Accept ~ "image/webp") {
        set req.http.Accept = "image/webp";
    } elsif (req.http.Accept !~ "application/ld\+json") {
        unset req.http.Accept;
    }
    # A client that has logged in: the server decides what it sees.
    if (req.http.Cookie ~ "(^|; *)calotype=") {
        return (pass);
    }
    unset req.http.Cookie;
    return (hash);
}

sub vcl_backend_response {
    # Nothing that is for one user, or for no cache.
    if (beresp.status == 200 && beresp.http.ETag && beresp.http.Cache-Control !~ "private|no-store") {
        # “no-cache” means: revalidate each time by ETag. This is the time for which a changed image
        # may be stale; afterwards it is revalidated by ETag in the background.
        if (beresp.http.Cache-Control ~ "no-cache") {
            set beresp.ttl = 10s;
        }
        set beresp.grace = 1m;
        set beresp.keep = 30d;
        return (deliver);
    }
    set beresp.uncacheable = true;
    # The time for which requests for the same URL do not wait for each other.
    set beresp.ttl = 10s;
    return (deliver);
}

sub vcl_deliver {
    if (obj.hits > 0) {
        set resp.http.X-Cache = "HIT";
    } else {
        set resp.http.X-Cache = "MISS";
    }
}
