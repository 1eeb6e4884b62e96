import type { Command } from '../command.ts';
import { notSignedIn, usageFault } from '../fault.ts';
import { assertCanConfirm, confirm } from '../input/confirm.ts';
import { jsonObject } from '../input/json-input.ts';
import { suggestion } from '../nearest.ts';
import { operationOf } from '../nouns/invoke.ts';
import type { OperationName } from '../nouns/noun.ts';
import type { Run } from '../run.ts';

export const api: Command = {
  path: ['api'],
  summary: 'Any operation of the service, by its name',
  description:
    'The input is flat: parameters of path, query and body together. The answer is JSON. The names are in the reference of the API.',
  arguments: { '<operation>': 'such as createTag' },
  options: { '--input <json>': 'JSON, @file or - for stdin' },
  examples: [`doorward api createTag --input '{"name": "urgent"}'`],
  async run(run, [name = ''], options) {
    const names = await operationNames();
    if (!names.includes(name)) throw usageFault(`There is no operation ${name}.`, hintOf(name, names));
    const text = options.text('input');
    const input = text === undefined ? {} : await jsonObject(run, '--input', text);
    await confirmLoss(run, name, input);
    const hasIdentity = (await run.connection.identity()) !== undefined;
    const client = hasIdentity
      ? await run.connection.inScope({ changes: true })
      : await run.connection.public();
    const call = operationOf(client, name as OperationName);
    const answer = await call(input, run).catch((error: unknown) => {
      // The client reports CONFIG if it has no token for an operation that isn't public.
      if (!hasIdentity && (error as { readonly code?: unknown }).code === 'CONFIG') throw notSignedIn();
      throw error instanceof TypeError ? usageFault(`${error.message}.`, `--input '{"id": "…"}'`) : error;
    });
    if (answer instanceof Response) await run.terminal.bytes(answer.body ?? []);
    else run.terminal.json(answer ?? null);
  },
};

/**
 * Asks for confirmation before operations that delete, remove, revoke or rotate something, as other commands do.
 *
 * @throws Fault with --dry-run, which most operations don't have: it must not send a change
 */
async function confirmLoss(run: Run, name: string, input: Readonly<Record<string, unknown>>): Promise<void> {
  if (input['dryRun'] === true) return;
  if (run.flags.dryRun)
    throw usageFault(
      '--dry-run is for commands of nouns.',
      `some operations take it: --input '{"dryRun": true, …}'`,
    );
  if (!/^(delete|remove|revoke|rotate)/.test(name)) return;
  assertCanConfirm(run);
  await confirm(run, `Send ${name}?`);
}

/** Returns the names of all operations that the client knows. */
export async function operationNames(): Promise<readonly string[]> {
  const { createClient } = await import('@doorward/node/client');
  return Object.keys(createClient({ url: 'http://127.0.0.1' }).api);
}

function hintOf(name: string, names: readonly string[]): string {
  const same = names.filter((candidate) => candidate.toLowerCase().includes(name.toLowerCase()));
  return same.length > 0 && same.length < 10
    ? `one of: ${same.join(', ')}`
    : suggestion(name, names).slice(0, 200);
}
