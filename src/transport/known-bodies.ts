import { frozen } from '../frozen.ts';

/**
 * Bodies that came before. Services ask the same questions over and over, and the same bytes are the same value: it is
 * read once, and frozen, so that what is derived from it is derived once too (`parseInput`). It says nothing of the
 * answer, which is found anew each time.
 *
 * A body is kept from its second time on, since many never come again. In two generations: the older is dropped when the
 * younger is full, and what is asked for meanwhile moves on.
 */
export interface KnownBodies {
  /** The frozen value of these bytes, or undefined when they are not known. */
  readonly find: (text: string) => object | undefined;
  /** Tells of a value that was read; it may be kept and frozen, and is then the one to go on with. */
  readonly add: (text: string, value: object) => void;
}

const MOST = 2000;
/** Longer ones are rarely equal, and would make room a matter of luck. */
const MOST_CHARACTERS = 2048;

export function createKnownBodies(most = MOST): KnownBodies {
  // Null: seen once.
  let young = new Map<string, object | null>();
  let old = new Map<string, object | null>();

  function put(text: string, value: object | null): void {
    if (young.size >= most) {
      old = young;
      young = new Map();
    }
    young.set(text, value);
  }

  return {
    find(text) {
      const known = young.get(text);
      if (known) return known;
      const before = old.get(text);
      if (!before) return undefined;
      put(text, before);
      return before;
    },
    add(text, value) {
      if (text.length > MOST_CHARACTERS) return;
      const isSecond = young.has(text) || old.has(text);
      put(text, isSecond ? frozen(value) : null);
    },
  };
}
