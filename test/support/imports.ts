/** An import or re-export by a relative address. Imports by the name of a package are left out. */
interface Import {
  /** The address as it is written: `./store.ts`. */
  readonly from: string;
  /** Erased by the compiler. */
  readonly typeOnly: boolean;
}

/** What the source of a file imports, when it is loaded or on demand. */
export const importsIn = (source: string): readonly Import[] =>
  [
    ...source.matchAll(
      /^(?:import|export)\s(type\s)?(?:[^;'"]*?\sfrom\s)?'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/gm,
    ),
  ].map(([, type, fixed, onDemand]) => ({ from: fixed ?? onDemand ?? '', typeOnly: type !== undefined }));
