"""A small web server on this machine, with ranges, and with the faults of real ones on request."""

import contextlib
import http.server
import threading


class FileServer:
    """Serves ``files``; ``requests`` has (path, Range, If-Range) of all that were asked for.

    Attributes
    ----------
    files : dict of str to bytes
    ranges : bool
        Whether ranges are served; else the whole file, as old servers do.
    cuts : list of int
        After how many bytes the next connections end.
    statuses : list of int
        With what the next requests are refused.
    tag : str or None
        The ETag of all files.
    length : bool
        Whether the length is said before.
    """

    def __init__(self):
        self.files, self.requests = {}, []
        self.ranges, self.tag, self.length = True, '"one"', True
        self.cuts, self.statuses = [], []
        self.gate = threading.Event()
        self.gate.set()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *args):
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))

    @property
    def url(self):
        return f"http://127.0.0.1:{self._http.server_port}/"

    def answer(self, handler):
        asked, condition = handler.headers.get("Range"), handler.headers.get("If-Range")
        self.requests.append((handler.path, asked, condition))
        self.gate.wait(10)
        if self.statuses:
            return handler.send_error(self.statuses.pop(0))
        body = self.files.get(handler.path.lstrip("/"))
        if body is None:
            return handler.send_error(404)
        start = 0
        if asked and self.ranges and (condition is None or condition == self.tag):
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            if start >= len(body):
                return handler.send_error(416)
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            handler.send_response(200)
        if self.length:
            handler.send_header("Content-Length", str(len(body) - start))
        if self.tag:
            handler.send_header("ETag", self.tag)
        handler.end_headers()
        end = start + self.cuts.pop(0) if self.cuts else len(body)
        with contextlib.suppress(ConnectionError):
            handler.wfile.write(body[start:end])
        return None

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.gate.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
