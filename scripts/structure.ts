import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { importsIn } from '../test/support/imports.ts';
import { subjects } from '../test/support/subjects.ts';

/**
 * Draws the layers of the service from the imports in its files: docs/pictures/structure.svg. A layer is a folder or a file
 * of packages/server/src. Each layer stands above all layers it imports. Arrows show imports; an arrow is left out if a
 * chain of others connects the same two layers. Subjects are colored. With --check it draws nothing, and fails if the
 * picture is out of date.
 */
const root = join(import.meta.dirname, '..');
const source = join(root, 'packages/server/src');
const picture = join(root, 'docs/pictures/structure.svg');

const layerOf = (path: string): string => path.split('/')[0] ?? path;

/** What each layer imports, types included. */
function readLayers(): Map<string, Set<string>> {
  const layers = new Map<string, Set<string>>();
  for (const entry of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    const path = entry.replaceAll('\\', '/');
    if (!path.endsWith('.ts') || path.endsWith('.test.ts')) continue;
    const imported = layers.get(layerOf(path)) ?? new Set();
    layers.set(layerOf(path), imported);
    for (const { from } of importsIn(readFileSync(join(source, path), 'utf8'))) {
      const to = layerOf(posix.join(posix.dirname(path), from));
      if (to !== layerOf(path)) imported.add(to);
    }
  }
  return layers;
}

const layers = readLayers();
const importedBy = (layer: string): string[] => [...(layers.get(layer) ?? [])];

/** Computes each layer once: without that, the time doubles with every layer that imports most of the others. */
function once<T>(compute: (layer: string) => T): (layer: string) => T {
  const results = new Map<string, T>();
  return (layer) => {
    const result = results.get(layer) ?? compute(layer);
    results.set(layer, result);
    return result;
  };
}

/** 0 for a layer without imports. The layers form no circle, as test/circles.test.ts checks. */
const floorOf: (layer: string) => number = once(
  (layer) => Math.max(-1, ...importedBy(layer).map(floorOf)) + 1,
);

/** All layers that a layer imports, directly or through others. */
const reachedFrom: (layer: string) => ReadonlySet<string> = once(
  (layer) => new Set(importedBy(layer).flatMap((next) => [next, ...reachedFrom(next)])),
);

/** The imports that no chain of other imports replaces. */
const arrowsOf = (layer: string): string[] =>
  importedBy(layer).filter(
    (to) => !importedBy(layer).some((other) => other !== to && reachedFrom(other).has(to)),
  );

const width = 960;
const rowHeight = 62;
const boxHeight = 30;
const boxWidth = (layer: string): number => layer.length * 8 + 24;

const floors: string[][] = [];
for (const layer of [...layers.keys()].sort()) (floors[floorOf(layer)] ??= []).push(layer);

/** The center of each box, above the layers it imports if its row has the space. */
const centers = new Map<string, { readonly x: number; readonly y: number }>();
for (const [floor, row] of floors.entries()) {
  const middleOf = (layer: string): number => {
    const below = arrowsOf(layer).map((to) => centers.get(to)?.x ?? width / 2);
    return below.length === 0 ? width / 2 : below.reduce((sum, x) => sum + x, 0) / below.length;
  };
  const sorted = row.map((layer) => ({ layer, middle: middleOf(layer) })).sort((a, b) => a.middle - b.middle);
  const gap = 24;
  const total = row.reduce((sum, layer) => sum + boxWidth(layer) + gap, -gap);
  const middle = sorted.reduce((sum, box) => sum + box.middle, 0) / sorted.length;
  let left = Math.min(Math.max(middle - total / 2, 8), width - total - 8);
  for (const { layer } of sorted) {
    centers.set(layer, {
      x: Math.round(left + boxWidth(layer) / 2),
      y: (floors.length - 1 - floor) * rowHeight + boxHeight,
    });
    left += boxWidth(layer) + gap;
  }
}

const centerOf = (layer: string): { readonly x: number; readonly y: number } => {
  const center = centers.get(layer);
  if (!center) throw new Error(`${layer} has no place`);
  return center;
};

const box = (layer: string): string => {
  const { x, y } = centerOf(layer);
  const size = `x="${x - boxWidth(layer) / 2}" y="${y - boxHeight / 2}" width="${boxWidth(layer)}" height="${boxHeight}"`;
  const color = subjects.includes(layer) ? ' class="subject"' : '';
  return `  <rect${color} ${size} rx="6"/><text x="${x}" y="${y + 5}">${layer}</text>`;
};

const arrow = (from: string, to: string): string => {
  const start = centerOf(from);
  const end = centerOf(to);
  const [top, bottom] = [start.y + boxHeight / 2, end.y - boxHeight / 2 - 4];
  const bend = (bottom - top) / 2;
  return `  <path d="M${start.x} ${top}C${start.x} ${top + bend} ${end.x} ${bottom - bend} ${end.x} ${bottom}"/>`;
};

const height = floors.length * rowHeight;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Layers of the service and what they import">
  <style>
    rect { fill: #f4f5f8; stroke: #8b93a7 }
    .subject { fill: #e0e7ff; stroke: #4f46e5 }
    path { fill: none; stroke: #8b93a7; marker-end: url(#head) }
    text { font: 14px system-ui, sans-serif; text-anchor: middle; fill: #1e1b4b }
    @media (prefers-color-scheme: dark) {
      rect { fill: #23262f; stroke: #8b93a7 }
      .subject { fill: #2b2a5b; stroke: #a5b4fc }
      text { fill: #eef2ff }
    }
  </style>
  <marker id="head" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" orient="auto">
    <path d="M0 0L8 4L0 8Z" style="fill: #8b93a7; stroke: none; marker-end: none"/>
  </marker>
${[...layers.keys()].flatMap((layer) => arrowsOf(layer).map((to) => arrow(layer, to))).join('\n')}
${[...layers.keys()].map(box).join('\n')}
</svg>
`;

if (!process.argv.includes('--check')) writeFileSync(picture, svg);
else if (readFileSync(picture, 'utf8') !== svg) {
  console.error(
    'docs/pictures/structure.svg is not up to date. Run "npm run structure" and commit the result.',
  );
  process.exitCode = 1;
}
