import type { Readable, Writable } from 'node:stream';
import type { InstalledService } from './programs.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export type Input = Readable & { readonly isTTY?: boolean | undefined };
export type Output = Writable & {
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal, in characters. */
  readonly columns?: number | undefined;
};

/** The environment of a run. Commands access the process through this instead of globals. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Env;
  /** Relative paths are resolved against this directory. */
  readonly cwd: string;
  /** Calls the listener on SIGINT, SIGTERM and SIGHUP. @returns a function that removes the listener */
  readonly onInterrupt: (listener: () => void) => () => void;
  readonly service: InstalledService;
}
