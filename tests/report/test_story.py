"""What a stranger sees first, and what can be taken along."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from report_cases import case, large

from topicfocus import FocusedTopicRegressor
from topicfocus.datasets import make_reviews
from topicfocus.report import Explorer
from topicfocus.report.codes import readable, spoken
from topicfocus.report.groups import group_summary
from topicfocus.report.layout import topic_map
from topicfocus.report.render import render
from topicfocus.report.stability import read_stability


def explorer(kind, **options):
    model, texts, target = case(kind)
    return Explorer(model, texts=texts[:60], target=target[:60], **options)


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
    assert shown in story and "raise" in story
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
    model, texts, _ = case("regression")
    page = open_page(explorer("regression", target_name="stars").html)
    effects = model[-1].topic_effects(model[:-1].transform(texts[:60])).set_index("topic")
    links = page.locator(".story [role=link]")
    amounts = page.locator(".story .amount").all_inner_texts()
    assert links.count() == len(amounts) >= 2
    for i, amount in enumerate(amounts):
        links.nth(i).focus()
        page.keyboard.press("Enter")
        k = page.evaluate("topicfocus.state.topic")
        assert float(amount.split()[0].replace("−", "-")) == pytest.approx(
            effects["change"][k], abs=0.006
        )
        sure = effects["lower"][k] > 0 or effects["upper"][k] < 0
        assert sure and ("up" in links.nth(i).get_attribute("class")) == (effects["change"][k] > 0)
    typical = model.predict(texts[:60]).mean()
    said = re.search(r"typical document: ([\d.]*\d)", page.locator(".story").inner_text())
    assert float(said.group(1)) == pytest.approx(typical, abs=0.006)


def test_the_story_of_two_classes_names_both(open_page):
    page = open_page(explorer("binary", class_names=["dull", "lively"]).html)
    story = page.locator(".story").inner_text()
    assert "raises the probability of “lively”" in story
    assert "lowers it, so that “dull” is likelier" in story


def covariates_case(family):
    """A model with two columns beside the text, the second missing for some."""
    reviews = make_reviews(200, random_state=0)
    rng = np.random.default_rng(0)
    beside = np.column_stack([rng.normal(5, 2, 200), rng.normal(0, 1, 200)])
    if family == "poisson":
        y = rng.poisson(np.exp(0.1 * reviews.target + 0.1 * beside[:, 0]))
    else:
        y = reviews.target + 0.5 * beside[:, 0]
    model = FocusedTopicRegressor(3, family=family, max_epochs=8, random_state=0)
    model.fit(reviews.counts, y, covariates=beside)
    given = {"covariates": beside, "covariate_names": ["length", "noise"], "target": y}
    page = Explorer(model, counts=reviews.counts, vocabulary=reviews.vocabulary, **given)
    return model, reviews.counts, beside, page


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_columns_beside_the_text_are_in_the_story(open_page, family):
    """What a covariate changes is what predictions change when it really is another."""
    model, counts, beside, made = covariates_case(family)
    found = made.summary["covariates"]["effects"]
    for j in range(2):
        ends = np.quantile(beside[:, j], [0.1, 0.9], method="hazen")
        np.testing.assert_allclose(found["values"][j], ends)
        for name, value in zip(("low", "high"), ends, strict=True):
            changed = beside.copy()
            changed[:, j] = value
            predicted = model.predict(counts, covariates=changed)
            # The typical document has the average of linear predictors.
            typical = predicted.mean() if family == "gaussian" else np.exp(np.log(predicted).mean())
            assert found[name][j][0] == pytest.approx(typical, rel=1e-6)
    page = open_page(made.html)
    story = page.locator(".story").inner_text()
    change = found["high"][0][0] - found["low"][0][0]
    said = re.search(r"Beside the topics: length from [\d.]+ to [\d.]+ ([+−][\d.]+)", story)
    assert float(said.group(1).replace("−", "-")) == pytest.approx(change, abs=0.006)
    rows = list(csv.DictReader(io.StringIO(saved(page, "Columns beside the text", "csv"))))
    assert float(rows[0]["change"]) == pytest.approx(change, rel=1e-6)
    expected = "expected" if family == "poisson" else "predicted"
    assert f"the {expected} target" in story


def test_topics_stand_beside_the_class_they_speak_for(open_page):
    model, texts, _ = case("multiclass")
    effects = model[-1].topic_effects(model[:-1].transform(texts[:60]))
    best = effects.loc[effects.groupby("topic")["change"].idxmax()].set_index("topic")
    page = open_page(explorer("multiclass").html)
    for k in range(3):
        row = page.locator(f"[data-topic='{k}']")
        assert f"for {best['class'][k]}" in row.inner_text()
        shown = row.locator(".change").inner_text().replace("−", "-")
        assert float(shown) == pytest.approx(100 * best["change"][k], abs=0.6)
    choice = page.locator("select").first
    assert choice.evaluate("n => n.selectedOptions[0].textContent") == "each topic’s own class"
    choice.select_option("1")
    label = model[-1].classes_[1]
    assert f"raises the probability of “{label}”" in page.locator(".story").inner_text()
    page.locator("select").first.select_option("")
    assert "speaks for" in page.locator(".story").inner_text()


def test_names_of_topics_say_something():
    """No halves of "wasn't"; of a code what it is, without remarks."""
    reviews = make_reviews(300, random_state=0)
    model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    first = [int(words[0]) for words in model.top_words(1)]
    names = list(reviews.vocabulary)
    names[first[0]] = "wasn"
    names[first[1]] = "ad:admission|heart|Cardiac arrest (with or without respiratory arrest)"
    made = Explorer(model, counts=reviews.counts, vocabulary=names)
    shown = made.summary["topics"]["names"]
    assert not any("wasn" in name.split(", ") for name in shown)
    assert "Cardiac arrest" in shown[1].split(", ")
    assert all(len(name.split(", ")) == 3 for name in shown)


def test_the_story_of_classes_says_who_speaks_for_whom(open_page):
    page = open_page(explorer("multiclass").html)
    story = page.locator(".story").inner_text()
    assert "3 topics tell 3 classes" in story and "speaks for good" in story
    assert "accuracy" in story and "Most often mistaken" in story


def test_effects_are_pythons(open_page):
    for kind in ("regression", "binary", "multiclass", "poisson", "ordinal"):
        model, texts, _ = case(kind)
        counts = model[:-1].transform(texts[:60])
        page = open_page(explorer(kind).html)
        width = page.evaluate("topicfocus.predictDocument(0).predictor.length")
        found = page.evaluate(
            f"[0, 1, 2].map(k => Array.from({{length: {width}}}, (_, l) => topicfocus.reach(k, l)))"
        )
        table = model[-1].topic_effects(counts)
        flat = [e for row in found for e in row]
        order = {"from": "low", "to": "high", "change": "change", "low": "lower", "high": "upper"}
        for mine, theirs in order.items():
            np.testing.assert_allclose(
                sorted(e[mine] for e in flat), np.sort(table[theirs]), rtol=1e-6, atol=1e-6
            )
        words = model[-1].word_effects(counts)
        some = np.unique(words["column"])[:20].tolist()
        shown = page.evaluate(f"{some}.map(v => topicfocus.wordEffect(v, {width - 1}))")
        rows = np.array(words["column"])
        last = [words["change"][np.flatnonzero(rows == v)[-1]] for v in some]
        np.testing.assert_allclose(shown, last, rtol=1e-5, atol=1e-6)


def test_stability_is_shown_whatever_it_is(open_page):
    given = {"share": [0.9, 0.5, 0.25], "fits": 12, "words": {"kept always": 31}}
    assert read_stability(given, 3) == {
        "topics": {"share": [0.9, 0.5, 0.25]},
        "whole": {"fits": 12, "words: kept always": 31},
        "words": None,
        "halves": None,
    }
    assert read_stability({"x": {0: 0.5}}, 3)["topics"] == {"x": [0.5, None, None]}
    with pytest.raises(TypeError, match="must be a dict"):
        read_stability([1], 3)
    page = open_page(explorer("regression", stability=given).html)
    assert "share 0.25" in page.locator("[data-topic='2']").inner_text()
    assert "fits 12" in page.locator("#stability").inner_text()
    page.click("#tab-fit")
    assert "words: kept always" in page.locator("#panel-fit").inner_text()
    said = open_page(explorer("regression", stability={**given, "in words": "Two come back."}).html)
    assert said.locator("#stability").inner_text() == "Two come back."


def test_words_that_do_not_come_back_are_marked_with_those_that_stand_for_them(open_page):
    from topicfocus import stability

    model, texts, target = case("regression")
    found = stability(model, texts, target, n_resamples=2, n_jobs=1)
    names = model[0].get_feature_names_out().tolist()
    mine = found.to_dict(names)
    # Two words of the model, one of which a half keeps without the other.
    kept, other = np.flatnonzero(found.kept)[:2]
    dropped = int(np.flatnonzero(~found.kept)[0])
    for row in mine["words"]:
        row["frequency"] = 0.25 if row["column"] == kept else 1.0
    stand_in = {"word": names[dropped], "frequency": 0.5, "correlation": 0.4, "either": 0.75}
    mine["substitutes"] = [{"word": names[kept], "frequency": 0.25, "others": [stand_in]}]
    read = read_stability(mine, 3, names)
    assert read["words"]["frequency"][kept] == 0.25 and read["words"]["frequency"][other] == 1
    assert read["words"]["others"] == [[kept, dropped, 0.75]]
    mine["topics"][1].update(same=False, cosine=0.25)
    mine["topics"][0].update(same=True, cosine=0.875)
    page = open_page(explorer("regression", stability=mine).html)
    shown = page.locator("[data-topic='1']").inner_text()
    assert "does not come back in halves of the documents (cosine 0.25)" in shown
    assert "comes back in halves" in page.locator("[data-topic='0']").inner_text()
    story = page.locator("#stability").inner_text()
    assert "2 pairs of halves" in story and "not come back" in story
    assert "less than half of the halves keep: 1." in story
    page.click("#tab-words")
    page.locator("#query").fill(names[kept])
    card = page.locator("#word-card").inner_text()
    assert "25%" in card and names[dropped] in card and "75%" in card
    assert "unsure" in page.locator(f"[data-word='{kept}']").get_attribute("class")
    # The other one says the same from its side.
    page.locator("#stand-ins button").click()
    assert names[kept] in page.locator("#stand-ins").inner_text()
    # What the function returns is taken as it is, too.
    whole = explorer("regression", stability=found).summary["stability"]
    assert whole["whole"]["pairs of halves"] == 2 and len(whole["topics"]["comes back"]) == 3
    assert whole["words"]["frequency"] == [round(f, 4) for f in found.frequency]


def test_confusion_and_certainty_are_of_all_documents():
    model, texts, target = case("multiclass")
    found = Explorer(model, texts=texts, target=target).summary["evaluation"][0]
    predicted = model.predict(texts)
    classes = model[-1].classes_
    wanted = [[int(np.sum((target == a) & (predicted == p))) for p in classes] for a in classes]
    assert found["confusion"] == wanted
    right = np.average(found["certainty"]["y"], weights=found["certainty"]["n"])
    assert right == pytest.approx(np.mean(predicted == target), abs=1e-4)


# ---- pictures -----------------------------------------------------------------------------------


def test_topics_that_share_words_are_near_on_the_map():
    near = np.array([[0.5, 0.5, 0, 0], [0.4, 0.6, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0.2, 0.8]])
    places = topic_map(near, np.array([1.0, 1.0, -1.0, -1.0]))
    gap = lambda i, j: np.hypot(*(places[i] - places[j]))  # noqa: E731
    assert gap(0, 1) < 0.3 * gap(0, 2) and gap(2, 3) < 0.3 * gap(0, 2)
    assert places[0, 0] > 0 > places[2, 0]  # what raises is on the right
    assert np.abs(places).max() == 1
    assert np.all(topic_map(np.ones((1, 2)) / 2, np.zeros(1)) == 0)


def test_no_topic_hides_another_on_the_map(open_page):
    """Also of topics that are all about as different from each other."""
    model, given = large(20, 400, 0.5, FocusedTopicRegressor, n_docs=30)
    for width in (1440, 390):
        page = open_page(Explorer(model, **given).html, viewport={"width": width, "height": 900})
        circles = page.evaluate(
            "[...document.querySelectorAll('.bubble')].map(c =>"
            " ['cx', 'cy', 'r'].map(n => Number(c.getAttribute(n))))"
        )
        at = np.array(circles)
        gaps = np.hypot(*(at[:, None, :2] - at[None, :, :2]).transpose(2, 0, 1))
        np.fill_diagonal(gaps, np.inf)
        # None covers the middle of another.
        assert np.all(gaps > np.maximum(at[:, None, 2], at[None, :, 2]))
        box = page.locator(".map").bounding_box()
        assert np.all(at[:, :2] - at[:, 2:] >= 0) and np.all(at[:, 0] + at[:, 2] <= box["width"])


def test_a_map_and_a_table_of_classes_choose_topics(open_page):
    page = open_page(explorer("multiclass").html)
    page.locator(".bubble").nth(1).click()
    assert "topic=" in page.evaluate("location.hash")
    page.locator(".cells .cell").nth(4).click()
    assert "predictor=1" in page.evaluate("location.hash")
    page.locator(".bubble").first.hover()
    assert "share" in page.locator("#tip").inner_text()
    page.mouse.move(5, 5)
    assert not page.locator("#tip").is_visible()


@pytest.mark.parametrize("kind", ["regression", "multiclass"])
def test_every_mark_has_a_tooltip(open_page, kind):
    page = open_page(explorer(kind).html)
    for view in ("topics", "words", "documents", "try", "fit"):
        page.click(f"#tab-{view}")
        # Marks of their own say it themselves; under a surface, the nearest one does.
        bare = page.locator(f"#panel-{view} svg.chart").evaluate_all(
            "nodes => nodes.filter(n => !n.querySelector('.surface')).flatMap(n =>"
            " [...n.querySelectorAll('circle, rect')].filter(m => !m.dataset.tip)).length"
        )
        assert bare == 0, view
    page.click("#tab-documents")
    dot = page.locator(".doc-dot").first.bounding_box()
    page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
    assert "actual" in page.locator("#tip").inner_text()


def test_topics_by_group_and_over_time(open_page):
    model, texts, _ = case("regression")
    shop = ["a", "b", "c"] * 20
    day = [f"2020-{1 + i % 12:02d}-0{1 + i % 9}" for i in range(60)]
    made = explorer("regression", by={"shop": shop}, time={"day": day})
    groups = made.summary["groups"]
    check_what_topics_add(made.summary, groups[0], np.array(shop))
    made_of = model[-1].composition(model[:-1].transform(texts[:60]))
    np.testing.assert_allclose(groups[0]["share"][1], made_of[1::3].mean(axis=0))
    assert groups[1]["labels"][:2] == ["2020-01", "2020-02"] and len(groups[1]["labels"]) == 12
    page = open_page(made.html)
    text = page.locator("#panel-topics").inner_text()
    assert "Topics by shop" in text and "Topics over day" in text
    assert "Differences in target by shop" in text and "Differences in target over day" in text
    added = list(csv.DictReader(io.StringIO(saved(page, "Differences in target by shop", "csv"))))
    first = [float(row["adds, target"]) for row in added if row["shop"] == "a"]
    assert sum(first) == pytest.approx(sum(groups[0]["targets"][0]["adds"][0]), abs=1e-6)
    rows = list(csv.DictReader(io.StringIO(saved(page, "Topics by shop", "csv"))))
    assert len(rows) == 9 and float(rows[0]["share"]) == pytest.approx(made_of[0::3, 0].mean())


def test_groups_of_few_documents_do_not_outshine_the_others(open_page):
    years = ["2001"] * 29 + ["2000"] * 29 + ["1999"] * 2
    made = explorer("regression", by={"year": years})
    assert made.summary["groups"][0]["labels"] == ["1999", "2000", "2001"]  # in their order
    page = open_page(made.html)
    tinted = page.evaluate(
        "[...document.querySelectorAll('.cells')].map(chart => [...chart.querySelectorAll('.cell')]"
        ".map(c => Number(c.getAttribute('fill-opacity'))))"
    )
    for chart in tinted:
        opacity = np.array(chart).reshape(-1, 3)
        assert np.all(opacity[:, 0] == 0) and opacity[:, 1:].max() == 1
    assert "Not coloured: fewer than 10 documents" in page.locator("#panel-topics").inner_text()


def test_groups_and_times_are_read():
    made_of = np.eye(3)[np.arange(90) % 3]
    many = group_summary(list(range(90)), None, made_of)[0]
    assert many["labels"][-1] == "all others" and sum(many["n"]) == 90
    assert group_summary(None, None, made_of) is None
    years = group_summary(None, [1990 + i % 60 for i in range(90)], made_of)[0]
    assert len(years["labels"]) == 12 and sum(years["n"]) == 90
    gaps = group_summary(["a", None, float("nan")] * 30, None, made_of)[0]
    assert gaps["n"] == [30]
    with pytest.raises(ValueError, match=r"shop has 2 values, but there are 90"):
        group_summary({"shop": [1, 2]}, None, made_of)
    with pytest.raises(ValueError, match=r"numbers, or dates .* got 'soon'"):
        group_summary(None, ["soon"] * 90, made_of)


# ---- what can be taken along -------------------------------------------------------------------


def test_charts_are_saved_as_svg_and_csv(open_page):
    model, texts, _ = case("regression")
    page = open_page(explorer("regression", target_name="stars").html)
    drawing = saved(page, "Effects of topics on stars", "svg")
    root = ElementTree.fromstring(drawing)
    assert root.tag.endswith("svg") and "var(" not in drawing and "class=" not in drawing
    assert re.search(r'fill="rgb\(', drawing)
    rows = list(csv.DictReader(io.StringIO(saved(page, "Effects of topics on stars", "csv"))))
    effects = model[-1].topic_effects(model[:-1].transform(texts[:60]))
    np.testing.assert_allclose(
        sorted(float(r["change"]) for r in rows), np.sort(effects["change"]), rtol=1e-6
    )
    for view, name in (
        ("topics", "Map of the topics"),
        ("words", "Words"),
        ("documents", "Predicted and actual stars"),
        ("documents", "Calibration of stars"),
        ("try", "What moves stars"),
    ):
        page.click(f"#tab-{view}")
        page.wait_for_timeout(300)  # no hand is quicker; what moves in is drawn again on the way
        ElementTree.fromstring(saved(page, name, "svg"))
        assert len(saved(page, name, "csv").splitlines()) > 3
    # Every chart of every view has its buttons.
    for view in ("topics", "words", "documents", "try", "fit"):
        page.click(f"#tab-{view}")
        charts = page.locator(f"#panel-{view} svg.chart").count()
        assert page.locator(f"#panel-{view} .savers").count() >= charts


def test_a_spreadsheet_takes_no_name_for_a_formula(open_page):
    made = explorer("regression", names={0: "=1+1", 1: 'a "b", c', 2: "@x"})
    page = open_page(made.html)
    rows = list(csv.DictReader(io.StringIO(saved(page, "Map of the topics", "csv"))))
    assert sorted(r["name"] for r in rows) == ["'=1+1", "'@x", 'a "b", c']


def test_the_link_is_copied(open_page):
    page = open_page(explorer("regression").html, permissions=["clipboard-read", "clipboard-write"])
    page.click("[data-topic='1']")
    page.click("#link")
    page.wait_for_selector("#link:has-text('Link copied')")  # the policy allows no evaluation
    assert page.evaluate("navigator.clipboard.readText()") == page.evaluate("location.href")


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
    assert spoken("ad:a|Elective|Yes") == "Elective: Yes"
    assert readable(["rx:lisinopril", "note:x"]) == ["rx:lisinopril", "note:x"]
    assert spoken(names[0]) == "Sepsis, pulmonary" and spoken("rx:lisinopril") == "lisinopril"
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


@pytest.mark.parametrize("width", [1440, 390])
def test_names_on_the_map_cover_no_circle_of_another_topic(open_page, width):
    fitted, given = large(20, 300, 0.5, FocusedTopicRegressor, n_docs=30)
    page = open_page(Explorer(fitted, **given).html, viewport={"width": width, "height": 900})
    found = page.evaluate(
        """() => {
          const box = (e) => { const b = e.getBBox(); return [b.x, b.y, b.width, b.height]; };
          const root = document.querySelector("svg.map");
          const circles = [...root.querySelectorAll("circle")]
            .map((c) => ["cx", "cy", "r"].map((a) => +c.getAttribute(a)));
          const names = [...root.querySelectorAll("text:not(.strong)")].map(box);
          return {circles, names, width: root.viewBox.baseVal.width};
        }"""
    )
    assert len(found["names"]) >= 2
    for x, y, w, h in found["names"]:
        assert x >= 0 and x + w <= found["width"] + 1
        for cx, cy, r in found["circles"]:
            dx, dy = cx - np.clip(cx, x, x + w), cy - np.clip(cy, y + 2, y + h - 2)
            assert np.hypot(dx, dy) > r - 3
    circles = np.array(found["circles"])
    assert (np.pi * circles[:, 2] ** 2).sum() < 0.2 * found["width"] * 420


def test_a_few_mistaken_documents_are_to_be_seen(open_page):
    target = case("multiclass").target
    page = open_page(explorer("multiclass").html, "#view=documents", color_scheme="dark")
    shown = page.eval_on_selector_all(
        "svg.cells rect.wrong",
        "all => all.map(e => [e.dataset.tip, +e.getAttribute('fill-opacity')])",
    )
    for tip, opacity in shown:
        assert opacity == 0 if tip.startswith("0 of") else opacity > 0.1
    assert any(opacity > 0.1 for _, opacity in shown)
    classes, n = np.unique(target[:60], return_counts=True)
    said = page.locator("section", has=page.locator("h2", has_text="Actual and predicted classes"))
    assert f"Saying “{classes[n.argmax()]}” of all would be right for" in said.inner_text()


def test_numbers_of_an_axis_differ(open_page):
    summary = explorer("regression").summary
    steps = summary["fit"]["history"]["objective"]
    summary["fit"]["history"]["objective"] = [-1231.0 - 0.01 * i for i in range(len(steps))]
    page = open_page(render(summary), "#view=fit")
    chart = page.locator("section", has=page.locator("h2", has_text="Training: objective"))
    marks = chart.locator("svg .grid text[text-anchor=end]").all_text_contents()
    assert len(marks) > 2 and len(set(marks)) == len(marks)


def test_the_story_says_units_and_scale(open_page):
    story = open_page(explorer("regression", target_name="stars").html).locator(".story")
    amounts = story.locator(".amount").all_inner_texts()
    assert amounts[0].endswith(" stars")
    assert sum(a.endswith(" stars") for a in amounts) <= 2  # once in each sentence
    decimals = {len(re.search(r"\.(\d+)", a).group(1)) for a in amounts}
    assert len(decimals) == 1
    assert re.search(r"on a scale from|training documents have", story.inner_text())
    story = open_page(explorer("binary", target_name="liked").html).locator(".story")
    assert story.locator(".amount").first.inner_text().endswith(" points")
    assert "scale" not in story.inner_text()


@pytest.mark.parametrize("kind", ["poisson", "ordinal"])
def test_intervals_of_counts_and_levels_are_shown_whole(open_page, kind):
    page = open_page(explorer(kind).html, "#view=documents")
    said = page.locator("#document .figure").inner_text()
    found = re.search(r"At least 80% of such documents: (\d+)(?: to (\d+))?( |$|\n)", said)
    assert found, said
    model, texts, _ = case(kind)
    document = page.locator("#document h2").inner_text()
    d = int(re.search(r"\d+", document).group())
    ends = [int(e) for e in found.groups()[:2] if e]
    low, high = model[-1].predict_interval(model[:-1].transform(texts[:60]))
    assert (ends[0], ends[-1]) == (low[d], high[d])


def test_long_class_names_break_at_their_dots(open_page):
    names = ["soc.religion.christian", "comp.sys.ibm.pc.hardware", "rec.autos"]
    page = open_page(
        explorer("multiclass", class_names=names).html,
        "#view=documents",
        viewport={"width": 390, "height": 844},
    )
    table = page.locator("#document .probabilities")
    assert table.locator("wbr").count() == 2 + 4 + 1
    assert sorted(table.locator("th button").all_text_contents()) == sorted(names)
