import type { Interruption } from './environment/interruption.ts';
import type { Io } from './environment/io.ts';
import { Connection } from './service/connection.ts';
import { RequestLog } from './service/request-log.ts';
import type { Flags } from './settings/flags.ts';
import { Settings } from './settings/settings.ts';
import { Terminal } from './output/terminal.ts';

/** Everything that a command needs to run. */
export interface Run extends Io {
  readonly flags: Flags;
  readonly terminal: Terminal;
  readonly settings: Settings;
  readonly connection: Connection;
  readonly log: RequestLog;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Interrupts the run. Prompts call it, because they receive Ctrl-C as a key instead of a signal. */
  readonly interrupt: () => void;
}

interface RunParts {
  readonly flags: Flags;
  readonly io: Io;
  readonly interruption: Pick<Interruption, 'signal' | 'interrupt' | 'protect'>;
}

export function createRun({ flags, io, interruption }: RunParts): Run {
  const { signal, interrupt, protect } = interruption;
  const terminal = new Terminal(flags, io);
  const settings = new Settings(flags, io.env);
  const log = new RequestLog(flags.verbose ? (line) => terminal.say(line) : null);
  const connection = new Connection({ flags, settings, log, protect });
  return { ...io, flags, terminal, settings, connection, log, signal, interrupt };
}
