import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Programs } from '../../../src/environment/programs.ts';

export interface How {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Simulates a terminal of this width. */
  readonly columns?: number;
  readonly cwd?: string;
  /** Default: the programs from the sources, which have no migrations. */
  readonly programs?: Programs;
}

/** The environment of a run, isolated from the shell that runs the tests and from the profiles of other runs. */
export const environmentOf = ({ env }: How): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
  DOORWARD_CONFIG_DIR: join(tmpdir(), `doorward-cli-${randomUUID()}`),
  ...env,
});
