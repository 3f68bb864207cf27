"""Special functions for x > 0 in kernels, because a cached kernel cannot call scipy.special."""

from __future__ import annotations

import math

import numpy as np

from topicfocus.kernels.compile import helper


@helper
def digamma(x):
    """ψ(x): recurrence up to x >= 10, then the asymptotic series; twin: scipy.special.digamma."""
    shift = 0.0
    while x < 10.0:
        shift += 1.0 / x
        x += 1.0
    z = 1.0 / (x * x)
    # Bernoulli numbers B_2n / 2n.
    rest = 1 / 240.0 - z * (1 / 132.0 - z * (691 / 32760.0))
    series = z * (1 / 12.0 - z * (1 / 120.0 - z * (1 / 252.0 - z * rest)))
    return math.log(x) - 0.5 / x - series - shift


@helper
def trigamma(x):
    """ψ'(x), like `digamma`; twin: scipy.special.polygamma(1, x)."""
    shift = 0.0
    while x < 10.0:
        shift += 1.0 / (x * x)
        x += 1.0
    r = 1.0 / x
    z = r * r
    rest = 1 / 30.0 - z * (5 / 66.0 - z * (691 / 2730.0))
    series = z * (1 / 6.0 - z * (1 / 30.0 - z * (1 / 42.0 - z * rest)))
    return shift + r * (1.0 + 0.5 * r + series)


@helper
def exp_digamma(x, out):
    """out_k = exp(ψ(x_k)) for a vector, x_k > 0; twin: np.exp(scipy.special.digamma(x)).

    exp(ψ(x)) = E(x + 8) · exp(-Σ_{i<8} 1/(x+i)), where E(y) = exp(ψ(y)) has a series in
    t = y - ½ that needs neither logarithm nor exponential. The sum of eight reciprocals is one
    division of polynomials, and exp(-u) is a Taylor polynomial of u/64, squared six times:
    branch-free, so that LLVM turns the loop into SIMD. For x < 0.2 (u large) libm's exp is used.
    """
    n = x.shape[0]
    smallest = x[0]
    for k in range(1, n):
        smallest = min(smallest, x[k])
    if smallest < 0.2:
        for k in range(n):
            out[k] = math.exp(digamma(x[k]))
        return
    for k in range(n):
        v = x[k]
        # Σ_{i<8} 1/(v+i), pairing i with 7-i: (v+i)(v+7-i) = q + i(7-i), q = v(v+7).
        q0 = v * (v + 7.0)
        q1 = q0 + 6.0
        q2 = q0 + 10.0
        q3 = q0 + 12.0
        left = q0 * q1
        right = q2 * q3
        u = (2.0 * v + 7.0) * ((q0 + q1) * right + (q2 + q3) * left) / (left * right)
        h = -u * (1.0 / 64.0)
        rest = 1 / 24.0 + h * (1 / 120.0 + h * (1 / 720.0 + h / 5040.0))
        e = 1.0 + h * (1.0 + h * (1 / 2.0 + h * (1 / 6.0 + h * rest)))
        for _ in range(6):
            e = e * e
        t = v + 7.5
        z = 1.0 / (t * t)
        rest = 10313 / 2903040.0 - z * (5509121 / 1393459200.0 - z * 2709398569 / 367873228800.0)
        series = 1.0 + z * (1 / 24.0 - z * (37 / 5760.0 - z * rest))
        out[k] = t * series * e


@helper
def dirichlet_log_normaliser(concentration):
    """log B(γ) = Σ_k log Γ(γ_k) - log Γ(Σ_k γ_k)."""
    total = 0.0
    value = 0.0
    for k in range(concentration.shape[0]):
        total += concentration[k]
        value += math.lgamma(concentration[k])
    return value - math.lgamma(total)


@helper
def log_in_place(x, n, bits):
    """x_j ← log x_j for the first n entries, x_j > 0 and normal; twin: np.log.

    `bits` is int64 scratch. x = 2^e·m with m in [√½, √2), and log m = 2 artanh((m-1)/(m+1)) by its
    series. Unlike the log of libm this vectorises. With few topics, logarithms would otherwise take
    longer than everything else.
    """
    raw = x.view(np.int64)
    for j in range(n):
        # Adding the distance from √½ to 1 carries into the exponent if and only if m >= √2.
        shifted = raw[j] + 0x00095F619980C433
        exponent = (shifted >> 52) - 1023
        bits[j] = exponent
        raw[j] = raw[j] - (exponent << 52)
    for j in range(n):
        m = x[j]
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        rest = 1 / 9.0 + z * (1 / 11.0 + z * (1 / 13.0 + z * (1 / 15.0 + z * (1 / 17.0))))
        series = 1.0 + z * (1 / 3.0 + z * (1 / 5.0 + z * (1 / 7.0 + z * rest)))
        x[j] = 2.0 * s * series + bits[j] * 0.6931471805599453


@helper
def exp_in_place(x, n, bits):
    """x_j ← exp x_j for the first n entries, x_j <= 0; twin: np.exp. Below -700 it is exp(-700).

    `bits` is int64 scratch. x = k log 2 + r with |r| <= ½ log 2; exp r as its series, 2^k by the
    bits of its exponent: without a branch or a call, so that it vectorises like `log_in_place`.
    """
    for j in range(n):
        value = max(x[j], -700.0)
        # The number is negative, so that truncation rounds to the nearest integer. 32 bits, since
        # most machines have no SIMD conversion to 64 bits.
        k = np.int32(value * 1.4426950408889634 - 0.5)
        bits[j] = (np.int64(k) + 1023) << 52
        r = value - k * 0.6931471805599453
        rest = 1 / 40320.0 + r * (1 / 362880.0 + r * (1 / 3628800.0 + r * (1 / 39916800.0)))
        rest = 1 / 24.0 + r * (1 / 120.0 + r * (1 / 720.0 + r * (1 / 5040.0 + r * rest)))
        x[j] = 1.0 + r * (1.0 + r * (1 / 2.0 + r * (1 / 6.0 + r * rest)))
    power = bits.view(np.float64)
    for j in range(n):
        x[j] *= power[j]
