"""Simulated clumps of things that are no cells: discs, ellipses, boxes, polygons, rods and pebbles, smooth or rough.

Nothing in them is taken from an image. What holds for masks of any roundish things is settled and measured on them.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

KINDS = ("disc", "ellipse", "box", "polygon", "rod", "pebble")
RADII = (5.0, 60.0)
"""Typical radius of the things of an image, in pixels."""
MIN_SHOWN = 0.15
"""Things of which less is seen beside the others are left out."""
PLACES = 30
"""Places that are tried for a thing ."""
TURNS = np.linspace(0, 2 * np.pi, 360, endpoint=False)


def things(random: np.random.Generator) -> np.ndarray:
    """Draw one image of things of one kind, touching and overlapping: masks (N, H, W)."""
    kind = str(random.choice(KINDS))
    radius = float(np.exp(random.uniform(*np.log(RADII))))
    spread = random.choice([0.0, 0.1, 0.3])
    count = int(random.choice([1, 2, 3, 5, 8, 14, 25, 40]))
    closeness = random.uniform(0.3, 1)
    packed = bool(random.integers(2))
    outlines: list[np.ndarray] = []
    for _ in range(count):
        shape = radius * np.exp(spread * random.standard_normal()) * radii_of(kind, random)
        outlines.append(place_things(shape, outlines, closeness, packed, random))
    return show_masks(draw_things(outlines, radius, random))


def radii_of(kind: str, random: np.random.Generator) -> np.ndarray:
    """Radii (360,) of a thing of typical radius 1, turned at random."""
    turned = TURNS - random.uniform(0, 2 * np.pi)
    cosine, sine = np.cos(turned), np.sin(turned)
    if kind in ("ellipse", "box"):
        power = 2.0 if kind == "ellipse" else random.uniform(2.5, 6)
        aspect = random.uniform(1, 2.5)
        result = (np.abs(cosine / np.sqrt(aspect)) ** power + np.abs(sine * np.sqrt(aspect)) ** power) ** (-1 / power)
    elif kind == "polygon":
        corners = random.integers(4, 9)
        sides = 2 * np.pi * (np.arange(corners) + random.uniform(-0.2, 0.2, corners)) / corners
        reaches = random.uniform(0.8, 1.1, corners)
        cosines = np.cos(turned[:, None] - sides)
        result = np.min(np.where(cosines > 0.05, reaches / np.maximum(cosines, 0.05), np.inf), axis=1)
        result = ndimage.gaussian_filter1d(result, 4, mode="wrap")
    elif kind == "rod":
        half = random.uniform(1, 4)
        along = np.abs(cosine) * half + np.sqrt(np.maximum(1 - (half * sine) ** 2, 0))
        result = np.where(np.abs(sine) * half < np.abs(cosine), along, 1 / np.maximum(np.abs(sine), 1e-9))
        result = result / np.sqrt(1 + 4 * half / np.pi)
    elif kind == "pebble":
        waves = np.arange(2, 6)
        sizes = random.uniform(0, 0.15, 4) / waves
        result = 1 + np.cos(turned[:, None] * waves + random.uniform(0, 2 * np.pi, 4)) @ sizes
    else:
        result = np.ones(len(TURNS))
    return np.asarray(result)


def place_things(
    radii: np.ndarray, others: list[np.ndarray], closeness: float, packed: bool, random: np.random.Generator
) -> np.ndarray:
    """Outline (360, 2) next to another one or on it, in one of several places.

    The closeness is a share of the distance at which two things, seen from one to the other, would just touch. Of the
    places in which it is not too close to any, it takes the first, or to be packed the one nearest to the middle.
    """
    outline = radii[:, None] * np.column_stack([np.sin(TURNS), np.cos(TURNS)])
    if not others:
        return outline
    stack = np.stack(others)
    places = []
    for _ in range(PLACES):
        other = others[random.integers(len(others))]
        turn = random.uniform(0, 2 * np.pi)
        direction = np.array([np.sin(turn), np.cos(turn)])
        reach = ((other - other.mean(axis=0)) @ direction).max() - (outline @ direction).min()
        moved = outline + other.mean(axis=0) + direction * reach * random.uniform(closeness, 1.05)
        crowding = max(closeness - separations(moved, stack).min(), 0.0)
        places.append((round(crowding, 9), float(np.hypot(*moved.mean(axis=0))) if packed else 0.0, len(places), moved))
    return min(places)[-1]


def separations(outline: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Distances (N,) from an outline (360, 2) to others (N, 360, 2), as shares of those at which they would touch."""
    middles = others.mean(axis=1)
    offsets = middles - outline.mean(axis=0)
    distances = np.maximum(np.hypot(*offsets.T), 1e-9)
    directions = offsets / distances[:, None]
    own = ((outline - outline.mean(axis=0)) @ directions.T).max(axis=0)
    theirs = np.einsum("nkd,nd->nk", others - middles[:, None], directions).min(axis=1)
    return np.asarray(distances / (own - theirs))


def draw_things(outlines: list[np.ndarray], radius: float, random: np.random.Generator) -> np.ndarray:
    """Masks (N, H, W) of outlines; some images cut their things, and some have rough outlines."""
    from skimage.draw import polygon2mask

    every = np.concatenate(outlines)
    margin = random.choice([4.0, 4.0, 4.0, -0.7 * radius])
    low, high = every.min(axis=0) - margin, every.max(axis=0) + margin
    shape = tuple(np.maximum(np.ceil(high - low), 2 * radius).astype(int))
    masks = np.stack([polygon2mask(shape, outline - low) for outline in outlines])
    roughness = random.choice([0.0, 0.0, 0.5, 1.0, 1.5]) * min(radius / 20, 1)
    if roughness:
        noise = ndimage.gaussian_filter(random.standard_normal(shape), 2)
        level = roughness * noise / noise.std()
        masks = np.stack([outward(mask) > level for mask in masks])
    if random.random() < 0.3:
        masks &= ~slits(masks, random)
    return masks


def slits(masks: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Thin gaps (H, W) along parts of the outlines, as masks have that were drawn by hand, thing by thing."""
    noise = ndimage.gaussian_filter(random.standard_normal(masks.shape[1:]), 3)
    outlines = np.any(masks & ~ndimage.binary_erosion(masks, np.ones((1, 3, 3))), axis=0)
    return np.asarray(outlines & (noise > random.uniform(-0.5, 1.5) * noise.std()))


def outward(mask: np.ndarray) -> np.ndarray:
    """Distance to the outline in pixels, positive inside."""
    return np.asarray(ndimage.distance_transform_edt(mask) - ndimage.distance_transform_edt(~mask))


def show_masks(masks: np.ndarray) -> np.ndarray:
    """Things that are seen: the least seen are taken away until all are."""
    masks = masks[masks.any(axis=(1, 2))]
    while len(masks) > 1:
        alone = masks & (masks.sum(axis=0) == 1)
        shares = alone.sum(axis=(1, 2)) / masks.sum(axis=(1, 2))
        if shares.min() >= MIN_SHOWN:
            break
        masks = np.delete(masks, shares.argmin(), axis=0)
    return masks
