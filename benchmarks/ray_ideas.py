"""Ideas for hidden outlines: what else a ray network can be shown or taught, and how else its answer can be used.

Each idea is a trial of benchmarks/ray_trials.py, which teaches and measures them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import torch
from scipy import ndimage
from torch import Tensor, nn
from torch.nn import functional

import declump
from declump.datasets import AnnotatedImage
from declump.evidence import Evidence
from declump.evidence.windows import ANGLES, CHANNELS, DEPTHS, STEP, View, sample_points, sample_window
from declump.shapes import contours
from declump.training.rays.batches import JITTER, DrawnCell, change_look, draw_batch, draw_cell, sample_with_errors
from declump.training.rays.examples import ExampleView, RayExample, true_radii
from declump.training.rays.lesson import loss
from declump.training.rays.network import WIDTHS, RayNetwork, moments

FINER = 3
"""Rays for each direction, with finer directions."""
HIDDEN_WEIGHT = 3.0
"""What a ray counts whose true outline lies in another cell."""
MAPS_WEIGHT = 0.5
SECOND_LOOKS = 0.6
"""Share of the windows that show first outlines."""
BLUR = 2.0
"""Pixels that are added, in quadrature, to the standard deviation of a first outline."""
KERNEL = 0.5
"""Width of the kernel that smooths a distribution, in its calibrated standard deviations, and not below a pixel."""
FLOOR = 0.05
"""Share of an even distribution that is mixed into that of a network, so that it is never quite sure."""
ROUNDS = 4
"""Evolutions with the whole distribution, after one with mean and deviation."""
TEAM_WEIGHT = 1.0
"""What the answer of a team counts beside the truth."""
TOGETHER = 4
"""Cells whose rays are told jointly: one, and those nearest to it."""
TURN = 5
"""Rows by which the second view of a team is turned: no multiple of what the network sees as one."""
Floats = np.ndarray
Look = tuple[Floats, Floats]
"""Radii (N, A) and their standard deviations, in pixels."""


class TriedNetwork(RayNetwork):
    """A ray network with further channels and further answers, which are not heeded, or zero, at first."""

    def __init__(self, known: RayNetwork, inputs: int = 0, outputs: int = 0) -> None:
        super().__init__()
        weights = known.state_dict()
        first = weights["down.0.0.weights.weight"]
        weights["down.0.0.weights.weight"] = functional.pad(first, (0, 0, 0, 0, 0, inputs))
        self.down[0][0].weights = nn.Conv2d(CHANNELS + inputs, WIDTHS[0], 3, padding=(0, 1), bias=False)
        self.load_state_dict(weights)
        self.further = nn.Conv2d(WIDTHS[0], outputs, 1) if outputs else None

    def forward(self, windows: Tensor) -> Tensor:
        """Scores (B, A, D), or with further answers (B, 1 + outputs, A, D)."""
        maps = self.features(windows)
        scores: Tensor = self.answer(maps)
        return scores[:, 0] if self.further is None else torch.cat([scores, self.further(maps)], 1)


class JointNetwork(RayNetwork):
    """Tells the rays of several cells together: each hears what the others have seen at every point of its window.

    What a cell has seen is its maps, and how probable it is that its first outline covers a point. Windows come in
    groups of ``TOGETHER``; beyond their usual channels they hold, for each of the others of their group, where their
    points lie in its window, in units of :func:`place_points`.
    """

    def __init__(self, known: RayNetwork) -> None:
        super().__init__()
        self.load_state_dict(known.state_dict())
        heard = WIDTHS[0] + 2
        self.hear = nn.Conv2d(WIDTHS[0] + heard, 2 * WIDTHS[0], 3, padding=(0, 1))
        self.change = nn.Conv2d(2 * WIDTHS[0], 1, 1)
        nn.init.zeros_(self.change.weight)
        nn.init.zeros_(self.change.bias)

    def forward(self, windows: Tensor) -> Tensor:
        """Scores (B, A, D); at first those of each cell alone."""
        maps = self.features(windows[:, :CHANNELS])
        scores: Tensor = self.answer(maps)
        covered = 1 - torch.cumsum(torch.softmax(scores.float(), 3), 3)
        said = torch.cat([maps.float(), covered, torch.ones_like(covered)], 1)
        # One row more on either side, so that what lies between the last direction and the first is heard.
        said = torch.cat([said[:, :, -1:], said, said[:, :, :1]], 2)
        heard = torch.zeros_like(said[:, :, 1:-1])
        for other in range(1, TOGETHER):
            first = CHANNELS + 2 * (other - 1)
            places = windows[:, first : first + 2].permute(0, 2, 3, 1).float()
            partner = said.unflatten(0, (-1, TOGETHER)).roll(-other, 1).flatten(0, 1)
            heard = heard + functional.grid_sample(partner, places, align_corners=False)
        heard = torch.cat([heard[:, :-1] / heard[:, -1:].clamp(min=1), heard[:, -1:]], 1)
        both = torch.cat([maps, heard.to(maps.dtype)], 1)
        both = torch.cat([both[:, :, -1:], both, both[:, :, :1]], 2)
        changed: Tensor = scores + self.change(functional.relu(self.hear(both)))
        return changed[:, 0]


@dataclass(frozen=True, eq=False)
class KnownNetwork:
    """A ray network that has learnt already, and the factor and power that calibrate its standard deviation."""

    network: RayNetwork
    calibration: tuple[float, float]

    def calibrate(self, seen: Look) -> Look:
        """Radii, and deviations within which 68 % of the rays lie."""
        factor, power = self.calibration
        return seen[0], STEP * factor * (seen[1] / STEP) ** power


@dataclass(frozen=True, eq=False)
class Start:
    """What a trial begins with.

    Attributes
    ----------
    known : KnownNetwork
        That of the fold.
    prior : ShapePrior
        Of all images that teach.
    strangers : mapping from ExampleView to KnownNetwork
        For views of images that teach: a network of another fold, which did not see the image.
    """

    known: KnownNetwork
    prior: declump.ShapePrior
    strangers: Mapping[ExampleView, KnownNetwork] = field(default_factory=dict)


class Trial:
    """Nothing new: what more batches alone are worth."""

    name = "no change, as many batches"
    taught = True
    inputs = 0
    outputs = 0

    def __init__(self, start: Start, earlier: Mapping[str, nn.Module] | None = None) -> None:
        self.start, self.known, self.earlier = start, start.known.network, earlier or {}

    def make_network(self) -> RayNetwork:
        """Make the network as it begins."""
        return TriedNetwork(self.known, self.inputs, self.outputs)

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw windows, true radii, what they count, and whatever else is taught."""
        return draw_batch(groups, size, seed)

    def loss(self, scores: Tensor, radii: Tensor, counted: Tensor, *_: Tensor) -> Tensor:
        """One number."""
        return loss(scores, radii, counted)

    def look(self, network: nn.Module, view: ExampleView) -> Look:
        """Radii and their deviations of all cells of an image, the latter not calibrated yet."""
        return look(network, view, lambda index: see(view, index))

    def evolve(
        self, network: nn.Module, view: ExampleView, image: AnnotatedImage, seen: Look, prior: declump.ShapePrior
    ) -> declump.Segmentation:
        """Evolve the cells of an image, with true regions, from radii and their calibrated deviations."""
        return evolve(image, seen, prior)


class HiddenRays(Trial):
    """Rays whose true outline is hidden count more."""

    name = "hidden rays count three times"

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw as usual, with a weight a ray."""
        return draw_cells(groups, size, seed, lambda _, window, __: (window, ()), self.weigh)

    def weigh(self, drawn: DrawnCell, radii: Floats, known: Floats) -> Floats:
        """Tell what each ray counts."""
        rows, columns = drawn.pose.directions()
        distance = radii * drawn.pose.step
        points = drawn.seed + np.stack([rows * distance, columns * distance], axis=1)
        hidden = sample_map(layers_of(drawn.example), points[:, 0], points[:, 1]) >= 2
        return np.where(hidden, HIDDEN_WEIGHT, 1.0).astype(np.float32) * known


class OtherCells(Trial):
    """The network also tells how many cells lie at every point, and where outlines of any cell run."""

    name = "layers and all outlines as further targets"
    outputs = 2

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw with two maps (B, 2, A, D) more."""

        def add_maps(drawn: DrawnCell, window: Tensor, _: np.random.Generator) -> tuple[Tensor, tuple[Tensor, ...]]:
            points = sample_points(drawn.seed, drawn.pose)
            layers = layers_of(drawn.example)
            maps = np.stack([sample_map(layers, *points), sample_map(outlines_of(drawn.example), *points)])
            return window, (torch.from_numpy(maps.astype(np.float32)),)

        return draw_cells(groups, size, seed, add_maps)

    def loss(self, scores: Tensor, radii: Tensor, counted: Tensor, *further: Tensor) -> Tensor:
        """Add what the further answers are off by."""
        (maps,) = further
        layers = functional.smooth_l1_loss(scores[:, 1], maps[:, 0])
        outlines = functional.binary_cross_entropy_with_logits(scores[:, 2], maps[:, 1])
        return loss(scores[:, 0], radii, counted) + MAPS_WEIGHT * (layers + outlines)

    def look(self, network: nn.Module, view: ExampleView) -> Look:
        """Only the scores count."""
        return look(lambda windows: network(windows)[:, 0], view, lambda index: see(view, index))


class FinerDirections(Trial):
    """Between two directions the network sees the luminance of two more rays."""

    name = "three rays a direction"
    inputs = FINER - 1

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw finer windows, the rays between as channels."""
        return draw_cells(groups, size, seed, lambda _, window, __: (join_rays(window), ()), angles=FINER * ANGLES)

    def look(self, network: nn.Module, view: ExampleView) -> Look:
        """See finer."""
        return look(network, view, lambda index: join_rays(see(view, index, FINER * ANGLES)))


class SecondLook(Trial):
    """The network sees its first outlines of the cell and of the others, as soft as they are doubtful."""

    name = "a second look"
    inputs = 2

    def __init__(self, start: Start, earlier: Mapping[str, nn.Module] | None = None) -> None:
        super().__init__(start, earlier)
        self.first: dict[ExampleView, Look] = {}

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw with first outlines that are as wrong as those of unseen images."""

        def add_first(drawn: DrawnCell, window: Tensor, rng: np.random.Generator) -> tuple[Tensor, tuple[Tensor, ...]]:
            shown = torch.zeros(2, ANGLES, DEPTHS)
            if rng.random() < SECOND_LOOKS:
                first = self.draw_first(drawn.view, rng)
                shown = show_first(drawn.view, drawn.number - 1, drawn.seed, drawn.pose, first, drawn.hidden - 1)
            return torch.cat([window, shown]), ()

        return draw_cells(groups, size, seed, add_first)

    def draw_first(self, view: ExampleView, rng: np.random.Generator) -> Look:
        """First outlines, made wrong: the network has seen the image."""
        if view not in self.first:
            self.first[view] = self.start.known.calibrate(super().look(self.known, view))
        return make_wrong(self.first[view], rng)

    def look(self, network: nn.Module, view: ExampleView) -> Look:
        """Look twice; the first time nothing is shown."""
        nothing = torch.zeros(2, ANGLES, DEPTHS)
        first = look(network, view, lambda index: torch.cat([see(view, index), nothing]))
        first = self.finish_first(self.start.known.calibrate(first), view)

        def see_again(index: int) -> Tensor:
            return torch.cat([see(view, index), show_first(view, index, view.seeds[index], View(STEP), first)])

        return look(network, view, see_again)

    def finish_first(self, first: Look, _: ExampleView) -> Look:
        """First outlines as they are shown."""
        return first


class EvolvedLook(SecondLook):
    """The second look is shown outlines that have evolved; of images that teach by networks that did not see them."""

    name = "a second look, at outlines of a first evolution"

    def draw_first(self, view: ExampleView, rng: np.random.Generator) -> Look:
        """Evolved outlines; where every network saw the image, of first outlines that were made wrong."""
        stranger = self.start.strangers.get(view)
        if view not in self.first:
            asked = stranger or self.start.known
            first = asked.calibrate(look(asked.network, view, lambda index: see(view, index)))
            self.first[view] = self.finish_first(first if stranger else make_wrong(first, rng), view)
        return self.first[view]

    def finish_first(self, first: Look, view: ExampleView) -> Look:
        """Evolve them in the clump that the view shows."""
        clump = (view.around.planes[3] > 0.5) | (view.around.nuclei > 0)
        found = declump.evolve(clump, view.seeds, evidence=Evidence(*first), prior=self.start.prior)
        return contours.resample(found.radii, ANGLES), first[1]


class Jointly(Trial):
    """A cell and its nearest neighbours are looked at together, and all their rays are told and taught at once."""

    name = "neighbours' rays told jointly"

    def make_network(self) -> RayNetwork:
        """Make the network as it begins."""
        return JointNetwork(self.known)

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw a cell with its neighbours, as often as the batch holds them, all in one pose and one look."""
        rng = np.random.default_rng(seed)
        rows = []
        for index in range(size // TOGETHER):
            drawn = draw_cell(groups[index % len(groups)], rng)
            team = [drawn, *draw_neighbours(drawn, rng)]
            places = [(cell.seed, cell.pose) for cell in team]
            look_seed = int(rng.integers(2**32))
            for own, cell in enumerate(team):
                window = torch.from_numpy(sample_with_errors(cell, rng))
                change_look(window, np.random.default_rng(look_seed))
                radii, known = true_radii(cell.example, cell.cell, cell.seed, cell.pose)
                # A cell stands twice in a group where there are too few; it counts once.
                known = known & (cell.number not in [before.number for before in team[:own]])
                rows.append((show_places(window, own, places), torch.from_numpy(radii), torch.from_numpy(known)))
        return tuple(torch.stack(column) for column in zip(*rows, strict=True))

    def look(self, network: nn.Module, view: ExampleView) -> Look:
        """Look at every cell with its neighbours; of what is said only the cell itself is taken."""

        def see_group(index: int) -> Tensor:
            team = nearest_cells(view.seeds, index)
            places = [(view.seeds[one], View(STEP)) for one in team]
            return torch.stack([show_places(see(view, one), own, places) for own, one in enumerate(team)])

        return look(lambda windows: network(windows[0])[:1], view, see_group)


class Distilled(Trial):
    """The network learns from a team as well: it and the one that learnt on, in four views each."""

    name = "distilled from a team of two networks in four views"

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw with what the team says; of images without annotation nothing else is known."""

        def weigh(drawn: DrawnCell, _: Floats, known: Floats) -> Floats:
            return known & (drawn.example.masks[drawn.cell].size > 1)

        windows, radii, counted = draw_cells(groups, size, seed, lambda _, window, __: (window, ()), weigh)
        return windows, radii, counted, ask_team([self.known, self.earlier[Trial.__name__]], windows)

    def loss(self, scores: Tensor, radii: Tensor, counted: Tensor, *further: Tensor) -> Tensor:
        """Add the cross-entropy with the team's answer."""
        (said,) = further
        return loss(scores, radii, counted) - TEAM_WEIGHT * (said * torch.log_softmax(scores, 2)).sum(2).mean()


class WholeDistribution(Trial):
    """The energy has minus the logarithm of the network's probability at the present radius, not mean and deviation.

    The probability is smoothed by a Gaussian kernel and mixed with an even one. Each round evolves with the quadratic
    that touches the term at the present outlines and lies above it elsewhere (as in expectation-maximisation), so that
    the term falls from round to round.
    """

    name = "the whole distribution as a term"
    taught = False

    def evolve(
        self, network: nn.Module, view: ExampleView, image: AnnotatedImage, seen: Look, prior: declump.ShapePrior
    ) -> declump.Segmentation:
        """Evolve with mean and deviation first, then with the peaks that the outlines have come to."""
        with torch.no_grad():
            scores = torch.cat([network(see(view, index)[None]) for index in range(len(view.seeds))])
        likely = torch.softmax(scores, 2).double().numpy()
        width = np.maximum(KERNEL * seen[1], 1.0)
        found = evolve(image, seen, prior)
        for _ in range(ROUNDS):
            found = evolve(image, touch_term(likely, width, contours.resample(found.radii, ANGLES)), prior)
        return found


TRIALS: tuple[type[Trial], ...] = (
    Trial,
    WholeDistribution,
    HiddenRays,
    OtherCells,
    FinerDirections,
    SecondLook,
    EvolvedLook,
    Distilled,
    Jointly,
)
Sampler = Callable[[DrawnCell, Tensor, np.random.Generator], tuple[Tensor, tuple[Tensor, ...]]]


def draw_cells(
    groups: Sequence[Sequence[RayExample]],
    size: int,
    seed: int,
    sampler: Sampler,
    weigh: Callable[[DrawnCell, Floats, Floats], Floats] = lambda _, __, known: known,
    angles: int = ANGLES,
) -> tuple[Tensor, ...]:
    """Draw a batch of windows that a sampler adds to, with further targets."""
    rng = np.random.default_rng(seed)
    rows = []
    for index in range(size):
        drawn = draw_cell(groups[index % len(groups)], rng)
        finer = replace(drawn, pose=replace(drawn.pose, angles=angles))
        window = torch.from_numpy(sample_with_errors(finer, rng))
        change_look(window, rng)
        seen, further = sampler(drawn, window, rng)
        radii, known = true_radii(drawn.example, drawn.cell, drawn.seed, drawn.pose)
        rows.append((seen, torch.from_numpy(radii), torch.from_numpy(weigh(drawn, radii, known)), *further))
    return tuple(torch.stack(column) for column in zip(*rows, strict=True))


def evolve(image: AnnotatedImage, seen: Look, prior: declump.ShapePrior) -> declump.Segmentation:
    """Evolve with true regions, and with radii and their calibrated deviations."""
    evidence = Evidence(radii=seen[0], radii_std=seen[1])
    return declump.evolve(image.clump, image.seeds, evidence=evidence, prior=prior)


def touch_term(likely: Floats, width: Floats, present: Floats) -> Look:
    """Radii and deviations (N, A) of the quadratic that touches a smoothed distribution's term at present radii.

    Parameters
    ----------
    likely : (N, A, D)
        Probabilities of the distances.
    width : (N, A)
        Of the kernel, in pixels.
    present : (N, A)
    """
    distances = STEP * (np.arange(DEPTHS) + 0.5)
    kernel = np.exp(-0.5 * ((present[:, :, None] - distances) / width[:, :, None]) ** 2)
    shares = (1 - FLOOR) * likely * kernel / (np.sqrt(2 * np.pi) * width[:, :, None])
    seen = shares.sum(axis=2)
    explained = np.maximum(seen / (seen + FLOOR / (STEP * DEPTHS)), 1e-6)
    return (shares @ distances) / np.maximum(seen, 1e-300), width / np.sqrt(explained)


@torch.no_grad()
def ask_team(team: Sequence[nn.Module], windows: Tensor) -> Tensor:
    """Mean probabilities (B, A, D) of several networks over windows (B, 9, A, D), turned and mirrored."""
    backwards = -torch.arange(ANGLES) % ANGLES
    said = []
    for network in team:
        for turn in (0, TURN):
            turned = torch.roll(windows, turn, 2)
            said.append(torch.roll(torch.softmax(network(turned), 2), -turn, 1))
            mirrored = torch.softmax(network(turned[:, :, backwards]), 2)[:, backwards]
            said.append(torch.roll(mirrored, -turn, 1))
    return torch.stack(said).mean(0)


@torch.no_grad()
def look(network: Callable[[Tensor], Tensor], view: ExampleView, see_cell: Callable[[int], Tensor]) -> Look:
    """What a network says of all cells of an image, one window at a time."""
    said = [moments(network(see_cell(index)[None])) for index in range(len(view.seeds))]
    means, deviations = (STEP * np.array([part[which][0].numpy() for part in said]) for which in range(2))
    return means, deviations


def see(view: ExampleView, index: int, angles: int = ANGLES) -> Tensor:
    """A window (9, A, D) of one cell."""
    others = np.delete(view.seeds, index, axis=0)
    return torch.from_numpy(sample_window(view.around, view.seeds[index], index + 1, others, View(STEP, angles=angles)))


def join_rays(fine: Tensor) -> Tensor:
    """From (9, 3 A, D) to (11, A, D): the luminance of the ray before and of the one behind are channels."""
    return torch.cat([fine[:, ::FINER], fine[:1, 1::FINER], torch.roll(fine[:1], 1, 1)[:, ::FINER]])


def show_first(
    view: ExampleView, own: int, seed: Floats, pose: View, first: Look, hidden: Sequence[int] | Floats = ()
) -> Tensor:
    """Two channels (2, A, D): how many other cells cover a point, and whether its own does, by first outlines."""
    radii, std = first
    points = sample_points(seed, pose)
    reach = radii.max(axis=1) + pose.step * DEPTHS
    near = np.setdiff1d(np.flatnonzero(np.hypot(*(view.seeds - seed).T) < reach), [own, *hidden])
    covering = np.zeros(points[0].shape)
    for index in near:
        covering += cover(points, view.seeds[index], radii[index], std[index])
    shown = np.stack([np.minimum(covering / 2, 2), 2 * cover(points, view.seeds[own], radii[own], std[own]) - 1])
    return torch.from_numpy(shown.astype(np.float32))


def nearest_cells(seeds: Floats, own: int) -> list[int]:
    """Numbers, from 0, of a seed and those nearest to it; where there are too few, they are taken again."""
    order = np.argsort(np.hypot(*(seeds - seeds[own]).T), kind="stable")
    order = np.concatenate([[own], order[order != own]])
    return [int(one) for one in np.resize(order[:TOGETHER], TOGETHER)]


def draw_neighbours(drawn: DrawnCell, rng: np.random.Generator) -> list[DrawnCell]:
    """Draw the neighbours of a cell that is looked at, in the same pose; those without a truth are passed over."""
    view = drawn.view
    own = int(np.flatnonzero(view.numbers == drawn.number)[0])
    cells = nearest_cells(view.seeds[view.numbers - 1], own)[1:]
    numbers = [int(view.numbers[which]) for which in cells]
    return [
        replace(
            drawn,
            cell=int(view.cells[which]),
            number=number,
            seed=view.seeds[number - 1] + rng.normal(0, JITTER, 2),
        )
        for which, number in zip(cells, numbers, strict=True)
    ]


def show_places(window: Tensor, own: int, places: Sequence[tuple[Floats, View]]) -> Tensor:
    """A window with two channels more for each of the others of its group, in turn: where its points lie in theirs."""
    points = sample_points(*places[own])
    others = [places[(own + further) % len(places)] for further in range(1, len(places))]
    shown = [place_points(points, seed, pose) for seed, pose in others]
    return torch.cat([window, torch.from_numpy(np.concatenate(shown).astype(np.float32))])


def place_points(points: tuple[Floats, Floats], seed: Floats, pose: View) -> Floats:
    """Where points lie in a window with a row more on either side: (2, A, D), column and row, from -1 to 1."""
    apart = np.stack([part.ravel() for part in points], axis=1)
    rows, columns = (pose.unstretch(apart, seed) - seed).T
    depth = np.hypot(rows, columns) / pose.step
    turn = (np.arctan2(rows, columns) - pose.turn) * (-1 if pose.mirrored else 1)
    angle = np.mod(turn / (2 * np.pi) * pose.angles, pose.angles)
    # Rows lie at whole numbers, the columns half a step further out.
    return np.stack([2 * depth / pose.depths - 1, 2 * (angle + 1.5) / (pose.angles + 2) - 1]).reshape(
        2, *points[0].shape
    )


def cover(points: tuple[Floats, Floats], seed: Floats, radii: Floats, std: Floats) -> Floats:
    """Probability that points lie within an outline that is known to a standard deviation."""
    rows, columns = points[0] - seed[0], points[1] - seed[1]
    turn = np.arctan2(rows, columns) / (2 * np.pi) * len(radii)
    radius, spread = (np.interp(turn, np.arange(len(radii)), values, period=len(radii)) for values in (radii, std))
    return 1 / (1 + np.exp(np.clip(1.7 * (np.hypot(rows, columns) - radius) / np.hypot(spread, BLUR), -30, 30)))


def make_wrong(seen: Look, rng: np.random.Generator) -> Look:
    """Move outlines by smooth errors, about as large as their standard deviations."""
    radii, std = seen
    wrong = rng.uniform(0.2, 1.2, (len(radii), 1)) * draw_smooth(radii.shape, rng)
    return np.clip(radii + std * wrong, 4, None), std


def draw_smooth(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Noise of variance 1 that is smooth along the directions, by a width that is drawn."""
    parts = np.fft.rfft(rng.normal(size=shape), axis=1)
    parts *= np.exp(-0.5 * (np.arange(parts.shape[1]) * rng.uniform(0.05, 0.3)) ** 2)
    noise = np.fft.irfft(parts, shape[1], axis=1)
    return noise / noise.std()


def sample_map(values: Floats, rows: Floats, columns: Floats) -> Floats:
    """Values (H, W) at the pixels nearest to points; beyond the image those of its border."""
    height, width = values.shape
    nearest = np.rint(rows).astype(int), np.rint(columns).astype(int)
    return values[np.clip(nearest[0], 0, height - 1), np.clip(nearest[1], 0, width - 1)]


@cache
def layers_of(example: RayExample) -> Floats:
    """Number of cells (H, W) at every pixel of an example."""
    return add_masks(example, lambda mask: mask)


@cache
def outlines_of(example: RayExample) -> Floats:
    """Whether (H, W) the outline of a cell is next to a pixel."""
    return ndimage.grey_dilation(add_masks(example, lambda mask: mask & ~ndimage.binary_erosion(mask)) > 0, size=3)


def add_masks(example: RayExample, change: Callable[[Floats], Floats]) -> Floats:
    """Sum (H, W) of all masks of an example, each changed."""
    total = np.zeros(example.shape, np.uint8)
    for mask, (row, column) in zip(example.masks, example.corners, strict=True):
        total[row : row + mask.shape[0], column : column + mask.shape[1]] += change(mask)
    return total
