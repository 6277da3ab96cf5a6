"""Learns which parts of a mask are one object from simulated things, and measures it on others.

    python benchmarks/joining.py --write

Needs the extra ``train``. Simulated things are divided too finely, and put together again as the truth says, in random
order; a small network learns from every two neighbours on the way whether they are one. It is asked for so much
certainty as is best for other simulated things, and compared on a third lot. No real image is looked at.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

import declump
import things
from declump.evaluation import overlap_degree, pool
from declump.records.clump import split_clumps
from declump.seeds.joining import JoiningRule, build_region_graph, find_objects
from declump.seeds.region_graph import PAIR_FEATURES, RegionGraph
from pages import ROOT, commit, replace_part
from watersheds import counts, from_h_maxima, from_peaks, from_points

SHIPPED = ROOT / "src" / "declump" / "data" / "joining.npz"
LOTS = {"training": 1, "choice": 2, "test": 3}
CERTAINTIES = (0.0, 0.5, 1.0, 1.5)
"""Of which the best is chosen: how much must speak for one object, as the logarithm of the odds."""
HIDDEN, EPOCHS, BATCH, RATE, DECAY, SLOWER = 32, 60, 256, 3e-3, 1e-3, 0.95
HELD = 0.9
"""Two parts of which one object holds this share each may be joined or not: nothing is learnt from them."""


def lessons(number: int, lot: int) -> tuple[np.ndarray, np.ndarray]:
    """What is seen (N, F) of neighbours in one image, and whether each two are one object."""
    random = np.random.default_rng((lot, number))
    masks = things.things(random)
    features, same = [], []
    for clump in split_clumps(masks.any(axis=0), np.empty((0, 2))):
        rows, columns = (slice(start, start + side) for start, side in zip(clump.origin, clump.mask.shape, strict=True))
        own = masks[:, rows, columns] & clump.mask
        graph = build_region_graph(clump.mask)
        owners, held = owners_of(graph, own)
        fresh = set(graph.neighbours())
        while True:
            for first, second in sorted(fresh):
                one = owners[first] == owners[second]
                if one or not np.any((held[first] > HELD) & (held[second] > HELD)):
                    features.append(graph.pair_features(first, second))
                    same.append(one)
            joinable = [pair for pair in graph.neighbours() if owners[pair[0]] == owners[pair[1]]]
            if not joinable:
                break
            pair = joinable[random.integers(len(joinable))]
            areas = [graph.parts[name].area for name in pair]
            joint = graph.join(*pair)
            held[joint] = np.average([held[name] for name in pair], axis=0, weights=areas)
            fresh = set(graph.pairs_of(joint))
    return np.array(features).reshape(-1, len(PAIR_FEATURES)), np.array(same, dtype=bool)


def owners_of(graph: RegionGraph, masks: np.ndarray) -> tuple[dict[int, int], dict[int, np.ndarray]]:
    """Which thing each part shows, one that is alone there rather than one below others; and what share each holds."""
    labels = graph.labels
    alone = masks & (masks.sum(axis=0) == 1)
    areas = np.bincount(labels.ravel())[1:]
    held, seen = (
        np.stack([np.bincount(labels[mask], minlength=areas.size + 1)[1:] / areas for mask in part], axis=1)
        for part in (masks, alone)
    )
    names = range(1, areas.size + 1)
    return {name: int((held + seen / 2)[name - 1].argmax()) for name in names}, {name: held[name - 1] for name in names}


def learn_rule(lessons_of_images: list[tuple[np.ndarray, np.ndarray]]) -> JoiningRule:
    """Train the network.

    A crowded image has a thousand pairs, many of them hopeless, and two discs have one. So that these are learnt, too,
    a pair counts less the more there are in its image.
    """
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    features, same = (np.concatenate(part) for part in zip(*lessons_of_images, strict=True))
    weights = np.concatenate([np.full(len(each), 1 / np.sqrt(max(len(each), 1))) for _, each in lessons_of_images])
    mean, scale = features.mean(axis=0), features.std(axis=0)
    inputs, wanted, counting = (
        torch.tensor(part, dtype=torch.float32) for part in ((features - mean) / scale, same, weights / weights.mean())
    )
    network = torch.nn.Sequential(
        torch.nn.Linear(len(PAIR_FEATURES), HIDDEN),
        torch.nn.Tanh(),
        torch.nn.Linear(HIDDEN, HIDDEN),
        torch.nn.Tanh(),
        torch.nn.Linear(HIDDEN, 1),
    )
    optimiser = torch.optim.AdamW(network.parameters(), RATE, weight_decay=DECAY)
    slower = torch.optim.lr_scheduler.ExponentialLR(optimiser, SLOWER)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(inputs)).split(BATCH):
            optimiser.zero_grad()
            answers = network(inputs[batch])[:, 0]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(answers, wanted[batch], counting[batch])
            loss.backward()
            optimiser.step()
        slower.step()
    layers = [parameter.detach().numpy().astype(np.float64) for parameter in network.parameters()]
    return JoiningRule(mean, scale, tuple(layers[::2]), tuple(layers[1::2]))


def demand_certainty(rule: JoiningRule, certainty: float) -> JoiningRule:
    """Take two parts for one only if so much speaks for it."""
    return replace(rule, biases=(*rule.biases[:-1], rule.biases[-1] - certainty))


def divide(mask: np.ndarray, rule: JoiningRule | None = None) -> np.ndarray:
    """Objects (N, H, W) into which a mask is divided, without overlap."""
    found = []
    for clump in split_clumps(mask, np.empty((0, 2))):
        labels = find_objects(clump.mask, rule)
        for name in range(1, int(labels.max()) + 1):
            whole = np.zeros(mask.shape, dtype=bool)
            top, left = clump.origin
            whole[top : top + labels.shape[0], left : left + labels.shape[1]] = labels == name
            found.append(whole)
    return np.array(found)


def marks(number: int, lot: int, method: Callable[[np.ndarray], np.ndarray]) -> tuple[declump.Score, np.ndarray]:
    """How well a method finds the things of one image."""
    masks = things.things(np.random.default_rng((lot, number)))
    found = method(masks.any(axis=0))
    score = declump.score(masks, found, matching="greedy", overlap_degree=overlap_degree(masks))
    return score, np.array(counts(masks, found))


def summary(every: list[tuple[declump.Score, np.ndarray]]) -> tuple[float, float, float, int, int]:
    """Dice of all and of overlapping things, F1, true and found things."""
    score = pool([score for score, _ in every])
    hits, true, found = np.sum([count for _, count in every], axis=0)
    return score.dice_all, score.dice_overlapping, 2 * hits / (true + found), int(true), int(found)


def whole(mask: np.ndarray) -> np.ndarray:
    return declump.split(mask).masks


def from_deep_places(mask: np.ndarray) -> np.ndarray:
    return from_points(mask, declump.find_seeds(mask, method="distance"))


METHODS = {
    "`declump.split`": whole,
    "the parts of `find_seeds`, not made whole": divide,
    'watershed from `find_seeds(method="distance")`': from_deep_places,
    "watershed, peaks 1 median depth apart": partial(from_peaks, share=1.0),
    "watershed, h-maxima, h = 0.5 pixels": partial(from_h_maxima, height=0.5),
    "watershed, h-maxima, h = 1 pixel": partial(from_h_maxima, height=1.0),
    "watershed, h-maxima, h = 2 pixels": partial(from_h_maxima, height=2.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=1600, help="simulated images to learn from")
    parser.add_argument("--others", type=int, default=150, help="images to choose by, and as many to test on")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--measure", action="store_true", help="learn nothing: measure what is shipped")
    parser.add_argument("--write", action="store_true", help="ship what is learnt; put the figures into docs/others.md")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as processes:
        if not options.measure:
            learn(processes, options.images, options.others, options.write)
        lines = ["| | all things | overlapping | F1 at IoU 0.5 | found |", "|---|---|---|---|---|"]
        for label, method in METHODS.items():
            task = partial(marks, lot=LOTS["test"], method=method)
            *figures, true, found = summary(list(processes.map(task, range(options.others), chunksize=4)))
            lines.append(f"| {label} | {' | '.join(f'{value:.3f}' for value in figures)} | {found} |")
            print(lines[-1], flush=True)
    origin = (
        f"Measured by `python benchmarks/joining.py --measure` at commit {commit()} on {options.others} simulated "
        f"images, {true} things."
    )
    print(origin)
    if options.write:
        replace_part("docs/others.md", "joining", "\n".join([origin, "", *lines]))


def learn(processes: ProcessPoolExecutor, images: int, others: int, write: bool) -> None:
    """Learn a rule, choose how sure it has to be, and ship it if asked to."""
    every = list(processes.map(partial(lessons, lot=LOTS["training"]), range(images), chunksize=8))
    same = np.concatenate([each for _, each in every])
    print(f"{len(same)} pairs of neighbours, of which {same.mean():.0%} are one object", file=sys.stderr)
    rule = learn_rule(every)
    best: tuple[float, JoiningRule] | None = None
    for certainty in CERTAINTIES:
        candidate = demand_certainty(rule, float(certainty))
        task = partial(marks, lot=LOTS["choice"], method=partial(divide, rule=candidate))
        dice, overlapping, f1, true, found = summary(list(processes.map(task, range(others), chunksize=4)))
        figures = f"Dice {dice:.3f}, overlapping {overlapping:.3f}, F1 {f1:.3f}, {found} of {true} things"
        print(f"certainty {certainty:+.1f}: {figures}", file=sys.stderr)
        if best is None or overlapping + f1 > best[0]:
            best = overlapping + f1, candidate
    if write and best is not None:
        layers = enumerate(zip(best[1].weights, best[1].biases, strict=True))
        arrays = {
            f"{name}{layer}": part
            for layer, pair in layers
            for name, part in zip(("weights", "bias"), pair, strict=True)
        }
        np.savez(SHIPPED, mean=best[1].mean, scale=best[1].scale, **arrays)


if __name__ == "__main__":
    main()
