import type { Run } from './run.ts';
import type { Options } from './settings/options.ts';

/** What a command declares: the program, its help and its completion are derived from the list of these. */
export interface Command {
  /** The words that name it: `['keys', 'create']`. */
  readonly path: readonly string[];
  readonly summary: string;
  /** More than the summary, for its own help. */
  readonly description?: string;
  /** `<subject>`, `[file]`, each with one sentence. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** `-o, --out <file>`, each with one sentence. `--set <name=value...>` may be given several times. */
  readonly options?: Readonly<Record<string, string>>;
  /** Lines that can be pasted, for its help. */
  readonly examples?: readonly string[];
  /** It stops by itself on Ctrl-C and the like. */
  readonly ownsSignals?: true;
  /** Answers the exit code; nothing: 0. */
  readonly run: (run: Run, args: readonly string[], options: Options) => Promise<number | void>;
}
