import { Connection } from './service/connection.ts';
import { RequestLog } from './service/request-log.ts';
import type { Flags } from './settings/flags.ts';
import { Settings } from './settings/settings.ts';
import { Terminal } from './output/terminal.ts';
import type { Protect } from './session/tokens.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What a command has to do its work with. */
export interface Run {
  readonly flags: Flags;
  readonly env: Env;
  readonly terminal: Terminal;
  readonly settings: Settings;
  readonly connection: Connection;
  readonly log: RequestLog;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

interface RunParts {
  readonly flags: Flags;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly protect: Protect;
}

export function createRun({ flags, env, signal, protect }: RunParts): Run {
  const terminal = new Terminal(flags, env);
  const settings = new Settings(flags, env);
  const log = new RequestLog(flags.verbose ? (line) => terminal.say(line) : null);
  const connection = new Connection({ flags, settings, log, protect });
  return { flags, env, terminal, settings, connection, log, signal };
}
