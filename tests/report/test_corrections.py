"""Names, words to drop and topics to merge are collected in the page as a corrections.toml."""

import copy
import json
import tomllib

import numpy as np
import pandas as pd
import pytest
from report_cases import case, explorer

from topicfocus.cli.main import main
from topicfocus.datasets import make_reviews
from topicfocus.report import Explorer

CARD = "section[aria-label=Corrections]"


def downloaded(page):
    with page.expect_download() as download:
        page.click("#download-corrections")
    assert download.value.suggested_filename == "corrections.toml"
    return tomllib.loads(download.value.path().read_text(encoding="utf-8"))


def by_number(made):
    """The component of each number of the page, from 1."""
    return dict(zip(made.summary["topics"]["number"], range(3), strict=True))


def test_corrections_are_collected_and_downloaded(open_page):
    made = explorer("regression")
    component = by_number(made)
    page = open_page(made.html)
    assert page.locator(CARD).count() == 0  # nothing is collected yet
    page.click(f"[data-topic='{component[2]}']")
    assert page.locator("#topic-card h2").inner_text() == "Topic 2"
    word = page.locator(".word-bar .name").first.inner_text()
    page.get_by_role("button", name=f"Drop “{word}”").click()
    page.locator("#topic-name").fill('the "good" \\ one')
    page.locator("#topic-name").press("Tab")
    page.get_by_label("Merge with").select_option(str(component[3]))
    assert downloaded(page) == {
        "drop_words": [word],
        "rename_topics": {"2": 'the "good" \\ one'},
        "merge_topics": [[2, 3]],
    }
    assert page.locator(".word-bar.struck .name").all_inner_texts() == [word]
    assert "fit FILE --config corrections.toml" in page.locator(CARD).inner_text()
    # Pairs with a topic in common are one topic; a pair is collected once.
    page.get_by_label("Merge with").select_option(str(component[3]))
    page.click(f"[data-topic='{component[1]}']")
    page.get_by_label("Merge with").select_option(str(component[2]))
    assert downloaded(page)["merge_topics"] == [[1, 2, 3]]


def test_a_phone_leads_to_the_corrections_from_its_first_screen(open_page):
    page = open_page(explorer("regression").html, viewport={"width": 390, "height": 844})
    link = page.get_by_role("button", name="Rename or merge topics, drop words")
    assert link.bounding_box()["y"] < 844
    link.click()
    assert page.evaluate("document.activeElement.id") == "topic-name"
    for _ in range(50):  # scrolling takes a moment
        top = page.locator("#topic-name").bounding_box()["y"]
        if 0 <= top < 400:
            break
        page.wait_for_timeout(100)
    assert 0 <= top < 400


def test_every_correction_can_be_undone(open_page):
    page = open_page(explorer("regression").html)
    word = page.locator(".word-bar .name").first.inner_text()
    for _ in range(2):  # drop it, and keep it
        page.get_by_role("button", name=f"Drop “{word}”", exact=True).click()
    assert page.locator(CARD).count() == 0
    page.locator("#topic-name").fill("praise")
    page.locator("#topic-name").press("Tab")
    page.get_by_label("Merge with").select_option(index=1)
    page.locator(".word-bars .drop").nth(1).click()
    assert page.locator(f"{CARD} .chip").count() == 3
    page.get_by_role("button", name="Undo: merge topics").click()
    assert set(downloaded(page)) == {"drop_words", "rename_topics"}
    page.get_by_role("button", name="Undo: name topic").click()
    assert set(downloaded(page)) == {"drop_words"}
    page.get_by_role("button", name="Undo all").click()
    assert page.locator(CARD).count() == 0
    assert page.locator("#topic-name").input_value() != "praise"


def test_corrections_outlive_the_page(open_page, tmp_path):
    made = explorer("regression")
    kept = np.flatnonzero(case("regression").model[-1].selected_words_)[:2].tolist()
    page = open_page(made.html, f"#view=words&word={kept[0]}")
    page.get_by_role("button", name="Drop this word").click()
    page.click("#tab-topics")
    page.click("[data-topic='1']")
    page.locator("#topic-name").fill("Praise </script> & more")
    page.locator("#topic-name").press("Tab")
    collected = page.evaluate("topicfocus.corrections()")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("topicfocus.corrections()") == collected  # this browser remembers
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(tmp_path / "copy.html")
    page.evaluate("localStorage.clear()")
    copy = open_page((tmp_path / "copy.html").read_text(encoding="utf-8"))
    assert copy.evaluate("topicfocus.corrections()") == collected
    row = copy.locator("[data-topic='1'] .name strong")
    assert row.inner_text() == "Praise </script> & more"
    # Nonsense in the storage of the browser is passed over.
    key = made.summary["key"]
    nonsense = '{"names": {"9": "x", "1": 2}, "drop": [-1, 1e9], "merge": [[0], [0, 7]]}'
    for text in ("[1]", '{"drop": 1, "merge": "x"}', nonsense):
        page.evaluate(
            "([key, text]) => localStorage.setItem(key, text)", [f"topicfocus:{key}", text]
        )
        page.reload()
        page.wait_for_selector("html[data-ready]")
        assert page.locator(CARD).count() == 0


def test_strings_of_the_file_are_toml(open_page):
    model, texts, target = case("regression")
    counts = model[:-1].transform(texts[:20])
    kept = np.flatnonzero(model[-1].selected_words_)[:4].tolist()
    names = [f"w{v}" for v in range(counts.shape[1])]
    odd = ['a "b" \\c', "tab\tline\nend", "\x7f\x01", "ü 😀 </script>"]
    for v, name in zip(kept, odd, strict=True):
        names[v] = name
    made = Explorer(model[-1], counts=counts, target=target[:20], vocabulary=names)
    page = open_page(made.html)
    page.evaluate(f"topicfocus.update({{drop: {kept}}})")
    assert tomllib.loads(page.evaluate("topicfocus.corrections()"))["drop_words"] == odd


@pytest.mark.parametrize("kind", ["regression", "multiclass"])
def test_topics_are_listed_in_the_order_of_their_numbers(open_page, kind):
    """Largest positive difference first; of several classes by class."""
    model, texts, _ = case(kind)
    made = explorer(kind)
    page = open_page(made.html)
    badges = page.locator(".forest-row .number-badge").all_inner_texts()
    assert badges == ["1", "2", "3"]
    found = model[-1].topic_effects(model[:-1].transform(texts[:60]))
    change = found["change"].to_numpy().reshape(3, -1)
    best = change.argmax(axis=1)
    order = sorted(range(3), key=lambda k: (best[k], -change[k, best[k]]))
    shown = page.locator(".forest-row[data-topic]").evaluate_all(
        "n => n.map(r => +r.dataset.topic)"
    )
    assert shown == order == [by_number(made)[i] for i in (1, 2, 3)]


def test_names_of_the_model_are_shown(open_page):
    model, texts, _ = case("regression")
    model = copy.deepcopy(model)
    model[-1].rename_topics({1: "praise"})
    made = Explorer(model, texts=texts[:30])
    assert made.summary["topics"]["names"][1] == "praise"
    assert made.summary["topics"]["named"] == [False, True, False]
    page = open_page(made.html)
    assert page.locator("[data-topic='1'] .name strong").inner_text() == "praise"
    # Without a name, a row has its words, and no name beside them.
    words = model[-1].top_words(9, model[0].get_feature_names_out())[0]
    row = page.locator("[data-topic='0'] .words").inner_text()
    assert ", ".join(words[:3]) in row and row.count(words[0]) == 1


def test_fit_takes_the_corrections(open_page, tmp_path):
    """From a page of the command line, by its numbers, to the next fit."""
    reviews = make_reviews(300, random_state=0)
    table = pd.DataFrame({"text": list(reviews.texts), "stars": reviews.target})
    table.to_csv(tmp_path / "reviews.csv", index=False)
    command = ["fit", str(tmp_path / "reviews.csv"), "--text", "text", "--target", "stars"]
    command += ["--topics", "3", "--no-remainder", "--no-baseline", "--quiet"]
    assert main([*command, "--out", str(tmp_path / "first")]) == 0
    first = json.loads((tmp_path / "first" / "metrics.json").read_text(encoding="utf-8"))["topics"]
    page = open_page((tmp_path / "first" / "explorer.html").read_text(encoding="utf-8"))
    assert [
        int(page.locator(f"[data-topic='{row['component']}'] .number-badge").inner_text())
        for row in first
    ] == [row["topic"] for row in first]
    page.click(f"[data-topic='{first[0]['component']}']")
    word = first[0]["words"][0]
    page.get_by_role("button", name=f"Drop “{word}”", exact=True).click()
    page.locator("#topic-name").fill("praise")
    page.locator("#topic-name").press("Tab")
    page.click(f"[data-topic='{first[1]['component']}']")
    page.get_by_label("Merge with").select_option(str(first[2]["component"]))
    with page.expect_download() as download:
        page.click("#download-corrections")
    download.value.save_as(tmp_path / "corrections.toml")
    again = ["--config", str(tmp_path / "corrections.toml"), "--out", str(tmp_path / "second")]
    assert main([*command, *again]) == 0
    second = json.loads((tmp_path / "second" / "metrics.json").read_text(encoding="utf-8"))[
        "topics"
    ]
    assert len(second) == 2
    assert "praise" in [row["name"] for row in second]
    assert all(word not in row["words"] for row in second)
    html = (tmp_path / "second" / "explorer.html").read_text(encoding="utf-8")
    rows = open_page(html).locator(".forest-row .name strong").all_inner_texts()
    assert "praise" in rows
