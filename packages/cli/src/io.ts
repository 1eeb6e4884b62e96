import type { Readable, Writable } from 'node:stream';
import type { InstalledService } from './installation/programs.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export type Input = Readable & { readonly isTTY?: boolean | undefined };
export type Output = Writable & {
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal. */
  readonly columns?: number | undefined;
};

/** Everything outside of a run: commands reach the process through this and not through globals. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Env;
  /** Relative file names start here. */
  readonly cwd: string;
  /** Calls the listener on each Ctrl-C and signal to end, until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  readonly service: InstalledService;
}
