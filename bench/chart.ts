import type { Series } from './report.ts';

/**
 * Throughput and p99 by size as one picture, drawn by hand: a panel for each series, sizes on a logarithmic axis, both
 * measures from zero, so that what is flat looks flat. Colours follow the reader's scheme.
 */
const WIDTH = 360;
const HEIGHT = 220;
const MARGIN = { left: 58, right: 58, top: 34, bottom: 40 };
const COLUMNS = 2;

const style = `<style>
  text { font: 11px system-ui, sans-serif; fill: #333 }
  .title { font-weight: 600; font-size: 12px }
  .axis { stroke: #999; stroke-width: 1 }
  .grid { stroke: #ddd; stroke-width: 1 }
  .rate { stroke: #1a66cc; fill: none; stroke-width: 2 } .rate-text, .rate-dot { fill: #1a66cc }
  .wait { stroke: #b34700; fill: none; stroke-width: 2; stroke-dasharray: 5 3 } .wait-text, .wait-dot { fill: #b34700 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .axis { stroke: #888 } .grid { stroke: #444 }
    .rate { stroke: #6aa9ff } .rate-text, .rate-dot { fill: #6aa9ff }
    .wait { stroke: #ffa366 } .wait-text, .wait-dot { fill: #ffa366 }
  }
</style>`;

export function chart(all: readonly Series[]): string {
  const drawn = all.filter(({ points }) => points.length > 1);
  const rows = Math.ceil(drawn.length / COLUMNS);
  const [width, height] = [WIDTH * COLUMNS, HEIGHT * rows];
  const panels = drawn.map((series, place) => {
    const [x, y] = [(place % COLUMNS) * WIDTH, Math.floor(place / COLUMNS) * HEIGHT];
    return `<g transform="translate(${x} ${y})">${panel(series)}</g>`;
  });
  const said = drawn.map(described).join('. ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(said)}">
${style}
${panels.join('\n')}
</svg>
`;
}

const described = ({ series, points }: Series): string =>
  `${series}: ${points.map(({ size, perSecond, p99 }) => `${size}: ${short(perSecond)} per second, p99 ${short(p99)} ms`).join('; ')}`;

function panel({ series, size, points }: Series): string {
  const right = WIDTH - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const sizes = points.map((point) => Math.log10(point.size));
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const x = (value: number) =>
    MARGIN.left + ((Math.log10(value) - least) / (most - least)) * (right - MARGIN.left);
  const y = (value: number, top: number) => bottom - (value / top) * (bottom - MARGIN.top);
  const line = (
    kind: 'rate' | 'wait',
    of: (point: (typeof points)[number]) => number,
    top: number,
  ): string => {
    const places = points.map((point) =>
      [x(point.size), y(of(point), top)].map((at) => at.toFixed(1)).join(' '),
    );
    const dots = places.map((place) => {
      const [cx, cy] = place.split(' ');
      return `<circle class="${kind}-dot" cx="${cx}" cy="${cy}" r="3"/>`;
    });
    return `<path class="${kind}" d="M${places.join('L')}"/>${dots.join('')}`;
  };
  const rateTop = roundUp(Math.max(...points.map(({ perSecond }) => perSecond)));
  const waitTop = roundUp(Math.max(...points.map(({ p99 }) => p99)));
  const marks = [0, 0.5, 1].map((part) => {
    const at = y(part, 1).toFixed(1);
    return `<line class="grid" x1="${MARGIN.left}" x2="${right}" y1="${at}" y2="${at}"/>
<text class="rate-text" x="${MARGIN.left - 6}" y="${at}" dy="4" text-anchor="end">${short(rateTop * part)}</text>
<text class="wait-text" x="${right + 6}" y="${at}" dy="4">${short(waitTop * part)}</text>`;
  });
  const ticks = points.map(
    (point) =>
      `<text x="${x(point.size).toFixed(1)}" y="${bottom + 15}" text-anchor="middle">${short(point.size)}</text>`,
  );
  return `<text class="title" x="${MARGIN.left}" y="14">${escaped(series)}</text>
<text class="rate-text" x="${MARGIN.left}" y="28">per second</text>
<text class="wait-text" x="${right}" y="28" text-anchor="end">p99, ms</text>
${marks.join('\n')}
<line class="axis" x1="${MARGIN.left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>
${ticks.join('')}
<text x="${((MARGIN.left + right) / 2).toFixed(1)}" y="${bottom + 31}" text-anchor="middle">${escaped(size)}</text>
${line('rate', ({ perSecond }) => perSecond, rateTop)}
${line('wait', ({ p99 }) => p99, waitTop)}`;
}

/** The next of 1, 2, 2.5, 5, 10 … above. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

const short = (value: number): string => {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toPrecision(3))}M`;
  return value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : String(Number(value.toPrecision(3)));
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
