"""Draws docs/images/phy-block-errors.png: the block error model and link simulations.

The model is computed independently of the simulator. Capacity and dispersion of bit-interleaved
coded modulation come from Gauss-Hermite quadrature instead of the simulator's fits.
"""

import csv
import math
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).parents[1]
GAP_DB = 1.0


@cache
def information(bits: int, snr_db: float) -> tuple[float, float]:
    """Returns capacity and dispersion of square QAM with `bits` bits a symbol and Gray labels."""
    half = bits // 2
    levels = np.arange(2**half)
    labels = levels ^ (levels >> 1)
    points = 2.0 * levels - (2**half - 1)
    points *= math.sqrt(0.5 / np.mean(points**2))
    noise = math.sqrt(0.5 / 10 ** (snr_db / 10))
    nodes, weights = np.polynomial.hermite.hermgauss(64)
    # Received values around each point, indexed by sent point and node.
    received = points[:, None] + math.sqrt(2) * noise * nodes[None, :]
    exponents = -((received[..., None] - points) ** 2) / (2 * noise**2)
    exponents -= exponents.max(axis=-1, keepdims=True)
    likelihoods = np.exp(exponents)
    density = np.zeros_like(received)
    for bit in range(half):
        same = ((labels[:, None] ^ labels[None, :]) >> bit & 1) == 0
        matching = np.einsum("snp,sp->sn", likelihoods, same.astype(float))
        density += 1 + np.log2(matching / likelihoods.sum(axis=-1))
    weights = weights / math.sqrt(math.pi) / len(points)
    mean = float((density * weights).sum())
    variance = float((density**2 * weights).sum()) - mean**2
    # The factor 2 is for the in-phase and quadrature components.
    return 2 * mean, 2 * variance


def error_rate(bits: int, rate: float, block: float, sinr_db: float) -> float:
    """Returns the error rate of a code block of `block` bits by the normal approximation."""
    payload = block - 24
    small_graph = payload <= 292 or rate <= 0.25 or (payload <= 3824 and rate <= 0.67)
    sent = max(rate, 1 / 5 if small_graph else 1 / 3)
    snr_db = round(sinr_db - GAP_DB + 10 * math.log10(sent / rate), 4)
    capacity, dispersion = information(bits, snr_db)
    symbols = block / (sent * bits)
    margin = symbols * capacity - block + 0.5 * math.log2(symbols)
    return 0.5 * math.erfc(margin / math.sqrt(2 * symbols * dispersion))


def sinr_for(bits: int, rate: float, block: float) -> float:
    """Returns the SINR in dB for 10 % errors."""
    low, high = -15.0, 35.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        if error_rate(bits, rate, block, middle) > 0.1:
            low = middle
        else:
            high = middle
    return high


def rows(path: Path) -> list[list[str]]:
    """Returns the rows of a table without its comments."""
    with path.open() as file:
        return list(csv.reader(line for line in file if not line.startswith("#")))


def main() -> None:
    """Draws the figure and prints the differences."""
    schemes = {
        (table, mcs): (int(bits), float(rate) / 1024)
        for table, mcs, bits, rate, _ in rows(ROOT / "crates/phy/data/nr_mcs_tables.csv")[1:]
        if rate != "reserved"
    }
    simulated = rows(ROOT / "crates/phy/tests/ldpc_awgn.csv")[1:]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for table, marker in [("NR_5.1.3.1-1", "o"), ("NR_5.1.3.1-2", "s")]:
        for column, block, colour in [(2, 500, "tab:blue"), (3, 2000, "tab:orange")]:
            points = [row for row in simulated if row[0] == table]
            codes = [schemes[table.replace("NR_", "NR_38.214_"), row[1]] for row in points]
            efficiency = [bits * rate for bits, rate in codes]
            difference = [
                sinr_for(bits, rate, block) - float(row[column])
                for row, (bits, rate) in zip(points, codes, strict=True)
            ]
            mean, deviation = np.mean(difference), np.std(difference)
            label = f"Table {table[3:]}, {block} bits"
            print(f"{label}: mean {mean:.3f} dB, deviation {deviation:.3f} dB")
            left.plot(efficiency, difference, marker, color=colour, ms=4, label=label)
    left.axhline(0, color="grey", lw=0.8)
    left.set(xlabel="Spectral efficiency (bit/symbol)", ylabel="Model less simulation (dB)")
    left.set(title="SINR for 10 % block errors", ylim=(-0.6, 0.6))
    left.legend(fontsize=7)
    for table, mcs, _, point in simulated:
        if table != "NR_5.1.3.1-1" or int(mcs) % 4:
            continue
        bits, rate = schemes["NR_38.214_5.1.3.1-1", mcs]
        sinrs = np.arange(float(point) - 1, float(point) + 1, 0.02)
        curve = [error_rate(bits, rate, 2000, float(sinr)) for sinr in sinrs]
        (line,) = right.semilogy(sinrs, curve)
        right.text(float(point) + 0.2, 0.13, mcs, color=line.get_color())
        right.plot(float(point), 0.1, "o", color=line.get_color())
    right.set(ylim=(1e-4, 1), xlabel="SINR (dB)", ylabel="Block error rate")
    right.set(title="MCS 4 to 28, 2000 bits; dots: LDPC simulated")
    target = ROOT / "docs/images/phy-block-errors.png"
    figure.savefig(target, dpi=110)
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
