import type { Env, Io } from '../environment/io.ts';
import { fileText } from '../input/json-input.ts';
import type { Options } from '../settings/options.ts';

export const environmentOptions = {
  '--env-file <file>': 'variables of the service; those of the environment win',
  '--data-dir <folder>': 'of the embedded database, in place of DATA_DIR',
};

/** The configuration of the service. Flags override the environment, which overrides the file. */
export async function environmentOf(run: Pick<Io, 'env' | 'cwd'>, options: Options): Promise<Env> {
  const given = { DATA_DIR: options.text('dataDir'), PORT: options.text('port'), HOST: options.text('host') };
  const flags = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...(await fileVariables(run, options.text('envFile'))), ...run.env, ...flags };
}

async function fileVariables(run: Pick<Io, 'cwd'>, path: string | undefined): Promise<Env> {
  if (path === undefined) return {};
  const { parseEnv } = await import('node:util');
  return parseEnv(await fileText(run, '--env-file', path));
}
