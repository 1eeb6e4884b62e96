/** A row as `--json` prints it. */
export type Item = Record<string, unknown> & { readonly id: string };
export interface List {
  readonly items: Item[];
  readonly nextCursor: string | null;
}
