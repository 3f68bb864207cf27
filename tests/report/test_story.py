"""What a stranger sees first, and what can be taken along."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from report_cases import case, explorer, halves

from topicfocus import FocusedTopicRegressor
from topicfocus.datasets import make_reviews
from topicfocus.report import Explorer
from topicfocus.report.evaluation import read_stability
from topicfocus.report.render import unpack_texts
from topicfocus.text.codes import readable, short_name


def saved(page, name, ending):
    button = {
        "svg": f"Save {name} as SVG",
        "csv": f"Save the data of {name} as CSV",
    }[ending]
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).first.click()
    return download.value.path().read_text(encoding="utf-8")


# ---- the story ----------------------------------------------------------------------------------


def test_the_story_names_the_strongest_topics_and_the_figures(open_page):
    model, texts, target = case("regression")
    ridge = np.full(60, target[:60].mean())
    page = open_page(
        explorer(
            "regression", target_name="stars", held_out=True, baselines={"the mean": ridge}
        ).html
    )
    story = page.locator(".story").inner_text()
    effects = model[-1].topic_effects(model[:-1].transform(texts[:60]))
    best = int(np.argmax(effects["change"]))
    shown = page.locator(f"[data-topic='{best}'] .name strong").inner_text()
    assert shown in story and "Higher stars" in story
    kept = int(model[-1].selected_words_.sum())
    assert f"{kept} of {len(model[0].get_feature_names_out())} words" in story
    from sklearn.metrics import r2_score

    wanted = r2_score(target[:60], model.predict(texts[:60]))
    assert float(page.locator("#headline").inner_text()) == pytest.approx(wanted, abs=0.006)
    assert "the mean 0.00" in story.replace("−", "")
    # A name that the reader gives is in it at once.
    page.click(f"[data-topic='{best}']")
    page.locator("#topic-name").fill("Praise")
    page.locator("#topic-name").press("Tab")
    assert "Praise" in page.locator(".story").inner_text()


def test_the_story_says_how_far_each_topic_goes(open_page):
    """Amounts beside the names are those of `topic_effects`, and a click goes to the topic."""
    model, texts, stars = case("regression")
    page = open_page(explorer("regression", target_name="stars", held_out=True).html)
    counts = model[:-1].transform(texts[:60])
    effects = model[-1].topic_effects(counts, stars[:60]).set_index("topic")
    links = page.locator(".story [role=link]")
    amounts = page.locator(".story .amount").all_inner_texts()
    assert links.count() == len(amounts) >= 2
    for i, amount in enumerate(amounts):
        links.nth(i).focus()
        page.keyboard.press("Enter")
        k = page.evaluate("topicfocus.state.topic")
        assert float(amount.split()[0].replace("−", "-")) == pytest.approx(
            effects["estimate"][k], abs=0.006
        )
        assert not effects["lower"][k] <= 0 <= effects["upper"][k]
        assert ("up" in links.nth(i).get_attribute("class")) == (effects["estimate"][k] > 0)
    typical = model.predict(texts[:60]).mean()
    said = re.search(r"typical document, which has ([\d.]*\d)", page.locator(".story").inner_text())
    assert float(said.group(1)) == pytest.approx(typical, abs=0.006)


def test_covariates_have_intervals_and_rare_indicators_come_last(open_page):
    """What a covariate changes is what predictions change when it really is another."""
    reviews = make_reviews(300, random_state=0)
    rng = np.random.default_rng(0)
    length, rare = rng.normal(5, 2, 300), (np.arange(300) % 50 == 0).astype(float)
    beside = np.column_stack([rare, length])
    y = reviews.target + 0.5 * length + 6 * rare
    model = FocusedTopicRegressor(3, max_epochs=6, random_state=0)
    model.fit(reviews.counts[:200], y[:200], covariates=beside[:200])
    counts, beside, y = reviews.counts[200:], beside[200:], y[200:]
    given = {"counts": counts, "target": y, "covariates": beside}
    made = Explorer(model, covariate_names=["rare", "length"], held_out=True, **given)
    found = made.summary["covariates"]["effects"]
    assert found["rare"] == [True, False]
    np.testing.assert_allclose(found["values"][0], [0, 1])
    ends = np.quantile(beside[:, 1], [0.1, 0.9], method="hazen")
    np.testing.assert_allclose(found["values"][1], ends)
    # The interval is around the least-squares estimate in the held-out documents.
    design = np.column_stack([np.ones(100), model.transform(counts)[:, :-1], beside])
    slopes = np.linalg.lstsq(design, y, rcond=None)[0][-2:]
    for j in range(2):
        for name, value in zip(("low", "high"), found["values"][j], strict=True):
            changed = beside.copy()
            changed[:, j] = value
            predicted = model.predict(counts, covariates=changed).mean()
            assert found[name][j][0] == pytest.approx(predicted, rel=1e-6)
        move = found["values"][j][1] - found["values"][j][0]
        middle = (found["lower"][j][0] + found["upper"][j][0]) / 2
        assert middle == pytest.approx(slopes[j] * move, rel=1e-4)
    page = open_page(made.html)
    story = page.locator(".story").inner_text()
    assert "rare" not in story
    said = re.search(
        r"Covariates: length from [\d.]+ to [\d.]+ .*; predicted ([+−][\d.]+)\)", story
    )
    change = found["high"][1][0] - found["low"][1][0]
    assert float(said.group(1).replace("−", "-")) == pytest.approx(change, abs=0.006)
    rows = list(csv.DictReader(io.StringIO(saved(page, "Covariates", "csv"))))
    assert [row["covariate"] for row in rows] == ["length", "rare"]
    assert float(rows[0]["difference"]) == pytest.approx(change, rel=1e-6)
    assert float(rows[0]["95% low"]) == pytest.approx(found["lower"][1][0])
    # Without held-out documents there are none.
    assert Explorer(model, **given).summary["covariates"]["effects"]["lower"] is None


def test_all_topics_of_the_story_can_be_shown(open_page):
    """And typical documents are whole, and have several relevant words."""
    reviews = make_reviews(300, random_state=0)
    model = FocusedTopicRegressor(8, max_epochs=4, random_state=0)
    model.fit(reviews.counts, reviews.target)
    made = Explorer(model, counts=reviews.counts, vocabulary=reviews.vocabulary)
    page = open_page(made.html)
    lines = page.locator(".story .drivers [role=link]")
    before, button = lines.count(), page.locator(".story .drivers button").first
    more = int(button.inner_text().split()[1])
    button.click()
    assert lines.count() >= before + more and page.locator(".story .drivers button").count() == 0
    shares = made.summary["topics"]["leads"]
    made_of = model.token_proportions(reviews.counts)
    known = model.relevant_words(reviews.counts) > 0
    first = made_of[known].argmax(axis=1)
    np.testing.assert_allclose(shares, np.bincount(first, minlength=8) / known.sum())
    page.click("[data-topic='0']")
    texts = page.locator(".whole .doc small").all_inner_texts()
    assert len(texts) == 3
    assert all(int(re.search(r"\((\d+) different", text).group(1)) >= 4 for text in texts)


def test_stability_marks_topics_and_words(open_page):
    model = case("regression").model
    kept = np.flatnonzero(model[-1].selected_words_)[:6]
    names = model[0].get_feature_names_out()[kept].tolist()
    for wrong in ([1], {"share": [0.9, 0.5, 0.25]}):
        with pytest.raises(TypeError, match="what topicfocus"):
            read_stability(wrong)
    made = explorer("regression", stability=halves(names))
    page = open_page(made.html)
    number = made.summary["topics"]["number"][2]
    said = page.locator("#stability").inner_text()
    assert f"1 of 3 topics does not replicate: {number}:" in said and "0.813" in said
    assert "does not replicate" in page.locator("[data-topic='2'] .unsure").inner_text()
    assert page.locator("[data-topic='1'] .unsure").count() == 0
    page.evaluate(f"topicfocus.update({{view: 'words', word: {kept[1]}}})")
    assert names[2] in page.locator("#stand-ins").inner_text()
    assert "25%" in page.locator("#word-card .facts").inner_text()
    page.click("#tab-fit")
    assert "Nogueira's index" in page.locator("#panel-fit").inner_text()
    # Without a check the page says how to run one; a fit has made a quick one.
    bare = open_page(explorer("regression").html)
    assert "no check" in bare.locator("#stability").inner_text()
    quick = {"documents": 120, "components": [2]}
    page = open_page(explorer("regression", stability=quick).html)
    said = page.locator("#stability").inner_text()
    assert "1 of 3 topics replicates in two separate samples of 120 training documents" in said
    assert f": {number}: " in said and "The others may be specific to this sample" in said
    assert "does not replicate" in page.locator(".story .drivers").first.inner_text()


# ---- pictures -----------------------------------------------------------------------------------


def test_topics_by_group_and_over_time(open_page):
    model, texts, _ = case("regression")
    shop = ["a", "b", "c"] * 20
    day = [f"2020-{1 + i % 12:02d}-0{1 + i % 9}" for i in range(60)]
    made = explorer("regression", by={"shop": shop}, time={"day": day})
    groups = made.summary["groups"]
    check_what_topics_add(made.summary, groups[0], np.array(shop))
    made_of = model[-1].token_proportions(model[:-1].transform(texts[:60]))
    np.testing.assert_allclose(groups[0]["share"][1], made_of[1::3].mean(axis=0))
    assert groups[1]["labels"][:2] == ["2020-01", "2020-02"] and len(groups[1]["labels"]) == 12
    page = open_page(made.html)
    text = page.locator("#panel-topics").inner_text()
    assert "Topic proportions by shop" in text and "Topic proportions by day" in text
    assert "Differences in target by shop" in text and "Differences in target by day" in text
    added = list(csv.DictReader(io.StringIO(saved(page, "Differences in target by shop", "csv"))))
    first = [float(row["contribution, target"]) for row in added if row["shop"] == "a"]
    assert sum(first) == pytest.approx(sum(groups[0]["targets"][0]["adds"][0]), abs=1e-6)
    rows = list(csv.DictReader(io.StringIO(saved(page, "Topic proportions by shop", "csv"))))
    assert len(rows) == 9 and float(rows[0]["token proportion"]) == pytest.approx(
        made_of[0::3, 0].mean()
    )


def groups_of(by=None, time=None):
    """The groups of 60 documents."""
    return explorer("regression", by=by, time=time).summary["groups"]


def test_groups_and_times_are_read():
    many = groups_of(list(range(60)))[0]
    assert many["labels"][-1] == "all others" and sum(many["n"]) == 60
    years = groups_of(None, [1960 + i for i in range(60)])[0]
    assert len(years["labels"]) == 12 and sum(years["n"]) == 60
    gaps = groups_of(["a", None, float("nan"), "b", "b"] * 12)[0]
    assert gaps["n"] == [24, 12]  # the most frequent first
    assert groups_of(["a", None, float("nan")] * 20) is None  # one value
    with pytest.raises(ValueError, match=r"shop has 2 values, but there are 60"):
        groups_of({"shop": [1, 2]})
    with pytest.raises(ValueError, match=r"numbers, or dates .* got 'soon'"):
        groups_of(None, ["soon"] * 60)


# ---- what can be taken along -------------------------------------------------------------------


def test_charts_are_saved_as_svg_and_csv(open_page):
    model, texts, _ = case("regression")
    page = open_page(explorer("regression", target_name="stars").html)
    drawing = saved(page, "Predicted differences of topics in stars", "svg")
    root = ElementTree.fromstring(drawing)
    assert root.tag.endswith("svg") and "var(" not in drawing and "class=" not in drawing
    assert re.search(r'fill="rgb\(', drawing)
    rows = list(
        csv.DictReader(io.StringIO(saved(page, "Predicted differences of topics in stars", "csv")))
    )
    effects = model[-1].topic_effects(model[:-1].transform(texts[:60]))
    np.testing.assert_allclose(
        sorted(float(r["difference"]) for r in rows), np.sort(effects["change"]), rtol=1e-6
    )
    for view, name in (
        ("words", "Words"),
        ("documents", "Predicted and actual stars"),
        ("documents", "Calibration of stars"),
        ("try", "Contributions to stars"),
    ):
        page.click(f"#tab-{view}")
        page.wait_for_timeout(300)  # no hand is quicker; what moves in is drawn again on the way
        ElementTree.fromstring(saved(page, name, "svg"))
        assert len(saved(page, name, "csv").splitlines()) > 3
    page.click("#tab-words")
    rows = csv.DictReader(io.StringIO(saved(page, "Words", "csv")))
    shown = {row["word"]: float(row["difference in stars"]) for row in rows}
    words = model[-1].word_effects(model[:-1].transform(texts[:60]))
    names = model[0].get_feature_names_out()[words["column"]]
    wanted = dict(zip(names, words["change"], strict=True))
    assert {name: shown[name] for name in names} == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    # Every chart of every view has its buttons.
    for view in ("topics", "words", "documents", "try", "fit"):
        page.click(f"#tab-{view}")
        charts = page.locator(f"#panel-{view} svg.chart").count()
        assert page.locator(f"#panel-{view} .savers").count() >= charts


def test_a_spreadsheet_takes_no_name_for_a_formula(open_page):
    made = explorer("regression", names={0: "=1+1", 1: 'a "b", c', 2: "@x"})
    page = open_page(made.html)
    rows = list(
        csv.DictReader(io.StringIO(saved(page, "Predicted differences of topics in target", "csv")))
    )
    assert sorted(r["name"] for r in rows) == ["'=1+1", "'@x", 'a "b", c']


# ---- codes -------------------------------------------------------------------------------------


def check_what_topics_add(summary, found, shop):
    """What topics add to a group beside all documents is how much its mean prediction differs."""
    texts, target = case("regression")[1:]
    model = case("regression")[0]
    n = len(shop)
    predicted = model.predict(texts[:n])
    for g, label in enumerate(found["labels"]):
        mine = shop == label
        own = found["targets"][0]
        assert own["predicted"][g] == pytest.approx(predicted[mine].mean())
        assert own["actual"][g] == pytest.approx(np.asarray(target[:n])[mine].mean())
        assert sum(own["adds"][g]) == pytest.approx(predicted[mine].mean() - predicted.mean())


def test_codes_have_readable_labels_that_differ():
    names = [
        "ad:admission diagnosis|Non-operative Organ Systems|Cardiovascular|Sepsis, pulmonary",
        "tx:cardiovascular|hypertension|ACE inhibitor|lisinopril",
        "tx:cardiovascular|heart failure|ACE inhibitor|lisinopril",
        "tx:medications|stress ulcer|pantoprazole|IV",
        "hx:notes/Progress Notes/Past History/Valve disease/MR",
        "rx:lisinopril",
        "and/or",
        "film",
    ]
    assert readable(names) == [
        "ad: Sepsis, pulmonary",
        "tx: lisinopril (hypertension)",
        "tx: lisinopril (heart failure)",
        "tx: IV (pantoprazole)",
        "hx: MR (Valve disease)",
        "rx: lisinopril",
        "and/or",
        "film",
    ]
    # An answer stands behind its question; without a hierarchy anywhere, names stay as they are.
    assert readable(["ad:a|Elective|Yes", "ad:a|Elective|No"]) == [
        "ad: Elective: Yes",
        "ad: Elective: No",
    ]
    assert readable(["rx:lisinopril", "note:x"]) == ["rx:lisinopril", "note:x"]
    # Names of topics leave out the kind of a code; the first part of a time is none.
    named = {"ad:a|Elective|Yes": "Elective: Yes", "rx:lisinopril": "lisinopril", "5:30": "5:30"}
    for word, name in named.items():
        assert short_name(word, readable([word])[0]) == name
    assert short_name(names[0], readable(names)[0]) == "Sepsis, pulmonary"
    # What cannot be told apart by its levels gets a number, also one that is taken already.
    same = ["a|b|x" + "y" * 300, "a|b|x" + "y" * 301, "k:p|q|end of it", "k:p|q|q|end of it"]
    assert len(set(readable(same))) == 4
    rng = np.random.default_rng(0)
    many = ["|".join(rng.choice(list("abc"), 4)) for _ in range(300)]
    assert len(set(readable(many))) == len(set(many))


def test_a_code_shows_its_label_and_its_hierarchy(open_page):
    model, texts, target = case("binary")
    counts = model[:-1].transform(texts[:60])
    names = [f"dx:organ system|kind {i % 7}|failure {i}" for i in range(counts.shape[1])]
    made = Explorer(model[-1], counts=counts, target=target[:60], vocabulary=names)
    page = open_page(made.html)
    word = page.locator(".word-bar").first
    assert re.fullmatch(r"dx: failure \d+( \(kind \d\))?", word.locator(".name").inner_text())
    word.hover()
    assert "organ system › kind" in page.locator("#tip").inner_text()
    word.click()
    assert "organ system › kind" in page.locator("#word-card .path").inner_text()


# ---- what was hard to read ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["poisson", "ordinal"])
def test_intervals_of_counts_and_levels_are_shown_whole(open_page, kind):
    page = open_page(explorer(kind).html, "#view=documents")
    said = page.locator("#document .figure").inner_text()
    found = re.search(r"at least 80% interval (\d+)(?: to (\d+))?( |$|\n)", said)
    assert found, said
    model, texts, _ = case(kind)
    document = page.locator("#document h2").inner_text()
    d = int(re.search(r"\d+", document).group())
    ends = [int(e) for e in found.groups()[:2] if e]
    low, high = model[-1].predict_interval(model[:-1].transform(texts[:60]))
    assert (ends[0], ends[-1]) == (low[d], high[d])


# ---- what the page must not say ------------------------------------------------------------------


def test_no_text_is_cut_and_long_ones_are_shown_by_their_words(open_page, monkeypatch):
    from topicfocus.report import explorer as summary

    _, texts, _ = case("regression")
    for name in ("PAGE_BUDGET", "SMALLEST_TEXTS"):
        monkeypatch.setattr(summary, name, 3000)
    made = explorer("regression", title="small")
    packed = unpack_texts(made.summary["documents"]["texts"])
    assert all(text in (None, full) for text, full in zip(packed, texts, strict=False))
    longest = packed.index(None)
    assert max(len(t) for t in packed if t is not None) <= len(texts[longest])
    page = open_page(made.html, f"#view=documents&doc={longest}")
    assert "these are its words" in page.locator("#document").inner_text()
    assert page.locator("#document .text mark").count() > 0


def test_the_caption_of_the_example_goes_when_the_text_is_edited(open_page):
    page = open_page(explorer("regression").html, "#view=try")
    assert page.locator("#example").count() == 1
    page.locator("#try-text").press_sequentially("x")
    assert page.locator("#example").count() == 0
    page.get_by_role("button", name="The example").click()
    assert page.locator("#example").count() == 1


def test_negligible_amounts_have_no_colour(open_page):
    page = open_page(explorer("regression").html, "#view=documents")
    full = page.evaluate("topicfocus.shade(0)")
    for d in range(5):
        page.evaluate(f"topicfocus.update({{doc: {d}}})")
        for kind, tip in page.locator("#document .text mark").evaluate_all(
            "n => n.map(m => [m.className, m.dataset.tip])"
        ):
            amount = float(tip.rpartition(": ")[2].replace("−", "-"))
            sign = "even" if abs(amount) <= 0.0199 * full else "up" if amount > 0 else "down"
            assert kind == sign or abs(abs(amount) - 0.02 * full) < 1e-3 * full
