import type { Run } from './run.ts';
import type { Options } from './settings/options.ts';

/** The declaration of a command. The parser, the help and the shell completion are derived from these declarations. */
export interface Command {
  /** The words of the command: `['keys', 'create']`. */
  readonly path: readonly string[];
  readonly summary: string;
  /** More details, shown only in the help of this command. */
  readonly description?: string;
  /** Arguments such as `<subject>` or `[file]`, with one sentence of help each. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** Options such as `-o, --out <file>`, with one sentence of help each. `--set <name=value...>` can be repeated. */
  readonly options?: Readonly<Record<string, string>>;
  /** Command lines that can be pasted, for the help. */
  readonly examples?: readonly string[];
  /** The command handles Ctrl-C and termination signals itself. */
  readonly ownsSignals?: true;
  /** Returns the exit code; nothing means 0. */
  readonly run: (run: Run, args: readonly string[], options: Options) => Promise<number | void>;
}
