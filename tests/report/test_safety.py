"""Words, documents and names come from strangers: nothing may run, nothing may be fetched."""

import socket
from contextlib import suppress

import numpy as np
from report_cases import case, halves

from topicfocus import FocusedTopicClassifier
from topicfocus.report import Explorer
from topicfocus.report.render import embed

EVIL = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror='window.hacked=1'>",
    '"><svg onload=window.hacked=1>',
    "javascript:window.hacked=1//",
    "{{data}}{{script}}",
    "<!--<script>",
    "a\u2028b\u2029c\x00\ud800",
    "${window.hacked=1}`'\"\\",
)


def evil(i):
    return f"{EVIL[i % len(EVIL)]} {i}"


def made():
    model, texts, _ = case("multiclass")
    counts = model[:-1].transform(texts[:60])
    rng = np.random.default_rng(0)
    labels = np.array([evil(0), evil(1), evil(2)])[rng.integers(0, 3, 60)]
    z = rng.standard_normal((60, 1))
    estimator = FocusedTopicClassifier(3, max_epochs=3, keep_words=[1, 2], random_state=0)
    estimator.fit(counts, labels, covariates=z)
    n_words = counts.shape[1]
    return Explorer(
        estimator,
        texts=[evil(i) + " " + texts[i] for i in range(60)],
        counts=counts,
        target=labels,
        names=[evil(i) for i in range(3)],
        vocabulary=[evil(i) for i in range(n_words)],
        title=evil(0),
        target_names=[evil(1)],
        document_names=[evil(i) for i in range(60)],
        covariates=z,
        covariate_names=[evil(2)],
        baselines={evil(0): np.full((60, 3), 1 / 3)},
        by={evil(3): [evil(i % 3) for i in range(60)]},
        time={evil(4): list(range(60))},
        stability=halves([evil(i) for i in range(6)]),
        frontier=[{"inclusion_prior": 0.1, evil(1): 1.0}, {"inclusion_prior": 0.2, evil(1): 2.0}],
    )


def test_no_field_can_run_anything(open_page, tmp_path):
    made().save(tmp_path / "evil.html")
    page = open_page((tmp_path / "evil.html").read_text(encoding="utf-8"))
    page.evaluate(
        "window.violations = []; addEventListener('securitypolicyviolation',"
        " e => violations.push(e.violatedDirective))"
    )
    for view in ("topics", "words", "documents", "try", "fit"):
        for state in ("topic: 1, word: 0, doc: 1", "topic: null, word: 1, doc: 2, predictor: 2"):
            page.evaluate(f"topicfocus.update({{view: '{view}', {state}, text: {EVIL[1]!r}}})")
            assert (
                page.locator("#app script, #app img, #app iframe, #app object, #app a").count() == 0
            )
            handlers = page.evaluate(
                "[...document.querySelectorAll('*')].flatMap(n => [...n.attributes])"
                ".filter(a => /^on/i.test(a.name)).length"
            )
            assert handlers == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(100)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("violations") == []
    page.evaluate("topicfocus.update({view: 'topics', topic: 0})")
    assert any("hacked" in word for word in page.locator(".context .chip").all_inner_texts())
    assert "<script>window.hacked" in page.locator("h1").inner_text()  # shown as it is written
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(tmp_path / "copy.html")
    copy = open_page((tmp_path / "copy.html").read_text(encoding="utf-8"))
    assert copy.evaluate("window.hacked") is None


def test_the_policy_forbids_network_and_foreign_scripts(open_page):
    model, texts, target = case("regression")
    page = open_page(Explorer(model, texts=texts[:20], target=target[:20]).html)
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.3)
    tried = page.evaluate(
        """async (url) => {
          const seen = [];
          addEventListener("securitypolicyviolation", (e) => seen.push(e.effectiveDirective));
          await fetch(url).catch(() => null);
          for (const tag of ["img", "script", "iframe", "link"]) {
            const node = document.createElement(tag);
            if (tag === "link") node.rel = "stylesheet";
            node[tag === "link" ? "href" : "src"] = url;
            document.body.append(node);
          }
          const inline = document.createElement("script");
          inline.textContent = "window.hacked = 1";
          document.body.append(inline);
          await new Promise((done) => setTimeout(done, 200));
          return [seen, window.hacked ?? null];
        }""",
        f"http://127.0.0.1:{server.getsockname()[1]}/x",
    )
    assert tried[1] is None
    assert {"connect-src", "img-src", "frame-src"} <= set(tried[0])
    assert {"script-src-elem", "style-src-elem"} <= set(tried[0])
    with server:
        assert said_to(server) == b""
    open_page.troubles.clear()  # the browser complained of each attempt, as it should


def said_to(server):
    """All that was sent. Chromium may open a line for a frame it then forbids, and says nothing."""
    heard = b""
    while True:
        try:
            line, _ = server.accept()
        except TimeoutError:
            return heard
        with line:
            line.settimeout(0.3)
            with suppress(TimeoutError):
                heard += line.recv(1000)


def test_embedded_data_cannot_end_its_element():
    for text in EVIL:
        found = embed({"x": text, text: 1})
        assert not set("<>&\u2028\u2029") & set(found)


def test_notebook_frame_is_closed_to_the_page_around_it():
    frame = made()._repr_html_()
    assert "allow-same-origin" not in frame
    start = frame.index('srcdoc="') + len('srcdoc="')
    assert frame.index('"', start) == frame.rindex('"')
