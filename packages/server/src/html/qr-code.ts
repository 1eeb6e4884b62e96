/**
 * QR codes (ISO/IEC 18004) of short texts: bytes, correction level M, versions 1 to 20, which hold 666 bytes. The mask is
 * always the first: readers take any, the choice only helps with damaged prints.
 */

/** By version, from 1: bytes of correction in each block, and the number of blocks. */
const correctionBytes = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
/** Level M with mask 0, with its own correction bits (table C.1). */
const FORMAT = 0b101010000010010;

/** Rows of dark and light modules; null if the text is too long. */
function qrCode(text: string): readonly (readonly boolean[])[] | null {
  const bytes = new TextEncoder().encode(text);
  const version =
    blockCounts.findIndex((_, index) => bytes.length + headerBytes(index + 1) <= dataSize(index + 1)) + 1;
  if (version === 0) return null;
  const grid = new Grid(version);
  grid.place(interleaved(padded(bytes, version), version));
  return grid.rows;
}

/** Light modules around a code, without which readers do not find it. */
const MARGIN = 4;

/** The dark modules as the path of a picture, and the length of its sides; null if the text is too long. */
export function qrPath(text: string): { readonly size: number; readonly path: string } | null {
  const rows = qrCode(text);
  if (!rows) return null;
  const path = rows
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : [])))
    .join('');
  return { size: rows.length + 2 * MARGIN, path };
}

const headerBytes = (version: number): number => (version < 10 ? 2 : 3);

const at = (list: readonly number[], index: number): number => list[index] ?? 0;

/** Modules that are left for data and correction. */
function moduleCount(version: number): number {
  const base = (16 * version + 128) * version + 64;
  if (version === 1) return base;
  const alignments = Math.floor(version / 7) + 2;
  return base - (25 * alignments - 10) * alignments + 55 - (version >= 7 ? 36 : 0);
}

const totalSize = (version: number): number => Math.floor(moduleCount(version) / 8);
const dataSize = (version: number): number =>
  totalSize(version) - at(correctionBytes, version - 1) * at(blockCounts, version - 1);

/** Mode, length, the bytes, and filler up to the size of the version. */
function padded(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = [];
  const add = (value: number, length: number): void => {
    for (let bit = length - 1; bit >= 0; bit--) bits.push((value >>> bit) & 1);
  };
  add(4, 4);
  add(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) add(byte, 8);
  add(0, 4);
  const data = Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    bits.slice(index * 8, index * 8 + 8).reduce((value, bit) => value * 2 + bit, 0),
  );
  for (let filler = 0xec; data.length < dataSize(version); filler ^= 0xec ^ 0x11) data.push(filler);
  return data;
}

/** Product in the field of 256 elements. */
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> bit) & 1) * a;
  }
  return product;
}

/** The divisor of Reed and Solomon of a degree, without its leading one. */
function divisor(degree: number): number[] {
  const result: number[] = Array.from({ length: degree }, (_, index) => (index === degree - 1 ? 1 : 0));
  let root = 1;
  for (let step = 0; step < degree; step++) {
    for (let index = 0; index < degree; index++)
      result[index] = times(at(result, index), root) ^ at(result, index + 1);
    root = times(root, 2);
  }
  return result;
}

function remainder(data: readonly number[], by: readonly number[]): number[] {
  const result = by.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ (result.shift() ?? 0);
    result.push(0);
    by.forEach((part, index) => (result[index] = at(result, index) ^ times(part, factor)));
  }
  return result;
}

/** The blocks with their correction, byte by byte in turn. */
function interleaved(data: readonly number[], version: number): number[] {
  const count = at(blockCounts, version - 1);
  const correction = at(correctionBytes, version - 1);
  const total = totalSize(version);
  const shortCount = count - (total % count);
  const shortLength = Math.floor(total / count) - correction;
  const by = divisor(correction);
  let from = 0;
  const blocks = Array.from({ length: count }, (_, index) => {
    const block = data.slice(from, (from += shortLength + (index < shortCount ? 0 : 1)));
    return { block, check: remainder(block, by) };
  });
  const interleave = (parts: readonly (readonly number[])[], length: number): number[] =>
    Array.from({ length }, (_, index) => parts.flatMap((part) => part[index] ?? [])).flat();
  return [
    ...interleave(
      blocks.map(({ block }) => block),
      shortLength + 1,
    ),
    ...interleave(
      blocks.map(({ check }) => check),
      correction,
    ),
  ];
}

/** The modules: patterns by which readers find the code first, data around them. */
class Grid {
  readonly #size: number;
  readonly #modules: boolean[][];
  readonly #fixed: boolean[][];

  constructor(version: number) {
    this.#size = version * 4 + 17;
    const empty = (): boolean[][] =>
      Array.from({ length: this.#size }, () => Array<boolean>(this.#size).fill(false));
    this.#modules = empty();
    this.#fixed = empty();
    this.#drawTiming();
    this.#drawFinders();
    this.#drawAlignments(version);
    this.#drawFormat();
    if (version >= 7) this.#drawVersion(version);
  }

  get rows(): readonly (readonly boolean[])[] {
    return this.#modules;
  }

  #fix(x: number, y: number, isDark: boolean): void {
    const row = this.#modules[y];
    const fixed = this.#fixed[y];
    if (!row || !fixed || x < 0 || x >= this.#size) return;
    row[x] = isDark;
    fixed[x] = true;
  }

  #drawTiming(): void {
    for (let index = 0; index < this.#size; index++) {
      this.#fix(6, index, index % 2 === 0);
      this.#fix(index, 6, index % 2 === 0);
    }
  }

  /** Squares in each other around a center; the dark rings are those at an even or odd distance. */
  #drawRings(x: number, y: number, radius: number, isDark: (distance: number) => boolean): void {
    for (let dy = -radius; dy <= radius; dy++)
      for (let dx = -radius; dx <= radius; dx++)
        this.#fix(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
  }

  #drawFinders(): void {
    const far = this.#size - 4;
    for (const [x, y] of [
      [3, 3],
      [far, 3],
      [3, far],
    ] as const)
      this.#drawRings(x, y, 4, (distance) => distance !== 2 && distance !== 4);
  }

  #drawAlignments(version: number): void {
    if (version === 1) return;
    const count = Math.floor(version / 7) + 2;
    const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
    const places = Array.from({ length: count }, (_, index) =>
      index === 0 ? 6 : this.#size - 7 - (count - 1 - index) * step,
    );
    const last = count - 1;
    places.forEach((x, column) =>
      places.forEach((y, row) => {
        const isFinder =
          (column === 0 && row === 0) || (column === 0 && row === last) || (column === last && row === 0);
        if (!isFinder) this.#drawRings(x, y, 2, (distance) => distance !== 1);
      }),
    );
  }

  #drawFormat(): void {
    const bit = (index: number): boolean => ((FORMAT >>> index) & 1) === 1;
    for (let index = 0; index <= 5; index++) this.#fix(8, index, bit(index));
    this.#fix(8, 7, bit(6));
    this.#fix(8, 8, bit(7));
    this.#fix(7, 8, bit(8));
    for (let index = 9; index < 15; index++) this.#fix(14 - index, 8, bit(index));
    for (let index = 0; index < 8; index++) this.#fix(this.#size - 1 - index, 8, bit(index));
    for (let index = 8; index < 15; index++) this.#fix(8, this.#size - 15 + index, bit(index));
    this.#fix(8, this.#size - 8, true);
  }

  #drawVersion(version: number): void {
    let check = version;
    for (let step = 0; step < 12; step++) check = (check << 1) ^ ((check >>> 11) * 0x1f25);
    const bits = (version << 12) | check;
    for (let index = 0; index < 18; index++) {
      const isDark = ((bits >>> index) & 1) === 1;
      const a = this.#size - 11 + (index % 3);
      const b = Math.floor(index / 3);
      this.#fix(a, b, isDark);
      this.#fix(b, a, isDark);
    }
  }

  /** Bits in columns of two, from the right, up and down in turn; masked so that no large area has one color. */
  place(bytes: readonly number[]): void {
    let index = 0;
    for (let right = this.#size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      for (let step = 0; step < this.#size; step++) {
        const isUpward = ((right + 1) & 2) === 0;
        const y = isUpward ? this.#size - 1 - step : step;
        for (const x of [right, right - 1]) {
          const row = this.#modules[y];
          if (!row || this.#fixed[y]?.[x]) continue;
          const bit = (at(bytes, index >>> 3) >>> (7 - (index & 7))) & 1;
          row[x] = (bit === 1) !== ((x + y) % 2 === 0);
          index++;
        }
      }
    }
  }
}
