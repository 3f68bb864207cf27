"""Documents drawn from the generative process of pf-sLDA, with its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit

from topicfocus.counts import index_dtype
from topicfocus.estimators.arguments import check_count, check_positive


@dataclass(frozen=True, eq=False)
class SyntheticCorpus:
    """A corpus drawn from pf-sLDA, and the parameters that it was drawn from.

    Attributes
    ----------
    counts : scipy.sparse.csr_array of shape (n_docs, n_words)
    target : ndarray of shape (n_docs,)
        Real numbers for the Gaussian family, 0 or 1 for the Bernoulli family.
    vocabulary : tuple of str
        "relevant_07", "irrelevant_31", ...
    components : ndarray of shape (n_topics, n_words)
        The topics β; zero on irrelevant words.
    background : ndarray of shape (n_words,)
        The irrelevant topic π; zero on relevant words.
    relevant : ndarray of bool, shape (n_words,)
    doc_topic : ndarray of shape (n_docs, n_topics)
        Topic proportions θ.
    coef : ndarray of shape (n_topics,)
        η.
    noise_variance : float or None
        δ; None for the Bernoulli family.
    inclusion_prior : float
        p, the expected fraction of relevant tokens.
    """

    counts: sparse.csr_array
    target: NDArray[np.float64]
    vocabulary: tuple[str, ...]
    components: NDArray[np.float64]
    background: NDArray[np.float64]
    relevant: NDArray[np.bool_]
    doc_topic: NDArray[np.float64]
    coef: NDArray[np.float64]
    noise_variance: float | None
    inclusion_prior: float


def make_pfslda(
    n_docs: int = 5000,
    doc_length: int | ArrayLike = 200,
    n_topics: int = 5,
    n_relevant: int = 50,
    n_irrelevant: int = 50,
    inclusion_prior: float = 0.25,
    family: Literal["gaussian", "bernoulli"] = "gaussian",
    coef: ArrayLike | None = None,
    noise_variance: float = 0.25,
    doc_topic_prior: float | ArrayLike = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> SyntheticCorpus:
    """Draw a corpus from the generative process of pf-sLDA.

    Topics β_k ~ Dirichlet(1) on the relevant words and π ~ Dirichlet(1) on the irrelevant ones.
    For each document d, θ_d ~ Dirichlet(α); for each token n of it, ξ_dn ~ Bernoulli(p), and the
    word is drawn from β_z with z ~ Categorical(θ_d) if ξ_dn = 1, from π if ξ_dn = 0. The target is
    y_d ~ Normal(η·θ_d, δ) or y_d ~ Bernoulli(1 / (1 + exp(-η·θ_d))).

    The defaults follow the simulation of Ren, Kunes and Doshi-Velez (2020, appendix, "Data set
    details"), which does not state the number and length of documents, η or δ.

    Parameters
    ----------
    n_docs : int, default=5000
    doc_length : int or array of int of shape (n_docs,), default=200
        Tokens in each document; 0 is allowed.
    n_topics : int, default=5
    n_relevant, n_irrelevant : int, default=50
        Words in each channel. There may be no irrelevant words if ``inclusion_prior`` is 1.
    inclusion_prior : float, default=0.25
        p, in (0, 1].
    family : {"gaussian", "bernoulli"}, default="gaussian"
    coef : array of shape (n_topics,), optional
        η; by default evenly spaced over [-2, 2] (Gaussian) or [-4, 4] (Bernoulli).
    noise_variance : float, default=0.25
        δ, Gaussian only.
    doc_topic_prior : float or array of shape (n_topics,), default=1.0
        α.
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    SyntheticCorpus

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> from topicfocus.datasets import make_pfslda
    >>> corpus = make_pfslda(n_docs=100, doc_length=50, random_state=0)
    >>> corpus.counts.shape
    (100, 100)
    """
    n_docs = check_count("n_docs", n_docs)
    n_topics = check_count("n_topics", n_topics)
    n_relevant = check_count("n_relevant", n_relevant)
    n_irrelevant = check_count("n_irrelevant", n_irrelevant, minimum=0)
    lengths = read_doc_lengths(doc_length, n_docs)
    if not 0 < inclusion_prior <= 1:
        raise ValueError(f"inclusion_prior must be in (0, 1], got {inclusion_prior!r}")
    if n_irrelevant == 0 and inclusion_prior < 1:
        raise ValueError(
            f"inclusion_prior={inclusion_prior:g} leaves tokens to irrelevant words, but "
            "n_irrelevant is 0; set inclusion_prior=1 or n_irrelevant to at least 1"
        )
    if family not in ("gaussian", "bernoulli"):
        raise ValueError(f'family must be "gaussian" or "bernoulli", got {family!r}')
    noise_variance = check_positive("noise_variance", noise_variance, zero=True)
    alpha = np.broadcast_to(np.asarray(doc_topic_prior, dtype=float), n_topics)
    if not (alpha > 0).all():
        raise ValueError(f"doc_topic_prior must be greater than 0, got {doc_topic_prior!r}")
    spread = 2.0 if family == "gaussian" else 4.0
    eta = np.linspace(-spread, spread, n_topics) if coef is None else np.array(coef, dtype=float)
    if eta.shape != (n_topics,):
        raise ValueError(f"coef has shape {eta.shape}; give one number for each of the topics")

    rng = np.random.default_rng(random_state)
    n_words = n_relevant + n_irrelevant
    relevant = np.arange(n_words) < n_relevant
    components = np.zeros((n_topics, n_words))
    components[:, relevant] = rng.dirichlet(np.ones(n_relevant), size=n_topics)
    background = np.zeros(n_words)
    if n_irrelevant:
        background[~relevant] = rng.dirichlet(np.ones(n_irrelevant))

    doc_topic = rng.dirichlet(alpha, size=n_docs)
    # Tokens of a document are exchangeable: drawing their number for each topic, and then the
    # words, is equivalent to drawing ξ, z and w token by token.
    n_included = rng.binomial(lengths, inclusion_prior)
    channels = np.column_stack([rng.multinomial(n_included, doc_topic), lengths - n_included])
    docs, words = draw_tokens(rng, channels, np.vstack([components, background]))

    predictor = doc_topic @ eta
    if family == "gaussian":
        target = rng.normal(predictor, np.sqrt(noise_variance))
    else:
        target = rng.binomial(1, expit(predictor)).astype(np.float64)
    return SyntheticCorpus(
        counts=count_tokens(docs, words, (n_docs, n_words)),
        target=target,
        vocabulary=_numbered("relevant", n_relevant) + _numbered("irrelevant", n_irrelevant),
        components=components,
        background=background,
        relevant=relevant,
        doc_topic=doc_topic,
        coef=eta,
        noise_variance=noise_variance if family == "gaussian" else None,
        inclusion_prior=float(inclusion_prior),
    )


def read_doc_lengths(doc_length: int | ArrayLike, n_docs: int) -> NDArray[np.int64]:
    """Number of tokens of each document, from one number or one per document."""
    lengths = np.asarray(doc_length).astype(np.int64, casting="safe")
    if lengths.size and lengths.min() < 0:
        raise ValueError(f"doc_length must be at least 0, got {lengths.min()}")
    return np.broadcast_to(lengths, n_docs)


def draw_tokens(
    rng: np.random.Generator, channels: NDArray[np.int64], word_probs: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Document and word of every token; `channels` are documents x channels, `word_probs` x words.

    Tokens are drawn one by one, not as multinomials of documents x words, so that memory grows with
    the number of tokens and not with the vocabulary.
    """
    docs = [np.repeat(np.arange(len(channels)), n_tokens) for n_tokens in channels.T]
    words = []
    for own, probs in zip(docs, word_probs, strict=True):
        # The first edge above the number is never that of a word with probability zero, which
        # equals the previous edge. Scaling by the last edge, nearly 1, keeps every number below it.
        edges = np.cumsum(probs)
        words.append(np.searchsorted(edges, rng.random(len(own)) * edges[-1], side="right"))
    return np.concatenate(docs), np.concatenate(words)


def count_tokens(
    docs: NDArray[np.int64], words: NDArray[np.int64], shape: tuple[int, int]
) -> sparse.csr_array:
    """Count tokens into a canonical documents x words CSR of float64."""
    index = index_dtype(max(len(docs), *shape))
    coords = (docs.astype(index), words.astype(index))
    tokens = sparse.coo_array((np.ones(len(docs)), coords), shape=shape)
    return tokens.tocsr()  # sums duplicates


def _numbered(prefix: str, n: int) -> tuple[str, ...]:
    width = max(2, len(str(n - 1)))
    return tuple(f"{prefix}_{i:0{width}d}" for i in range(n))
