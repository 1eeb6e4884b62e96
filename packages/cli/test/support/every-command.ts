import { once } from 'node:events';
import { expect } from 'vitest';
import type { Command } from '../../src/command.ts';
import { commands } from '../../src/commands.ts';
import { doorward, startDoorward } from './run/doorward.ts';
import type { How } from './run/how.ts';
import type { Servers } from './servers.ts';
import { token } from './token.ts';
import { nameOf, patient, typed, withoutCredential, withoutService } from './typed.ts';

/** Guarantees of docs/cli.md for every command, and the commands that they apply to. */
interface NamedCommand {
  readonly name: string;
  readonly command: Command;
}

export const all: readonly NamedCommand[] = commands.map((command) => ({ name: nameOf(command), command }));
/** Commands that need a response from the service. */
export const asking = all.filter(
  ({ name }) => !(name in withoutService) && !withoutCredential.includes(name),
);
export const others = all.filter((entry) => !asking.includes(entry));

const scope = 'accountProject:01890000-0000-7000-8000-000000000002:01890000-0000-7000-8000-000000000003';

/** A policy file and a file of users to import. */
export const filesOfFolder: Readonly<Record<string, string>> = {
  'doorward.yaml': `version: 1\nroles: { Clerk: {} }\ntests:\n  - { name: x, permission: 'a:b', expect: { authorized: true } }\n`,
  'users.jsonl': '{"email": "ada@example.com"}\n',
};

export const at = (folder: string, url: string, more: Record<string, string> = {}): How => ({
  cwd: folder,
  stdin: 'dwk_x',
  env: {
    DOORWARD_URL: url,
    DOORWARD_TOKEN: token,
    DOORWARD_SCOPE: scope,
    DATA_DIR: `${folder}/data`,
    NO_COLOR: '1',
    ...more,
  },
});

export const isPlain = (text: string): boolean => !text.includes('\u001b');
export function isEnvelope(text: string): boolean {
  const { error, code } = JSON.parse(text) as { error?: unknown; code?: unknown };
  return typeof error === 'string' && typeof code === 'string';
}

/** Expects the documented errors without a service, with a service that rejects the token, and without a token. */
export async function expectRefusals(
  { name, command }: NamedCommand,
  folder: string,
  refusing: string,
): Promise<void> {
  const [missing, refused, nobody] = await Promise.all([
    patient.includes(name) ? null : doorward([...typed(command), '--json'], at(folder, 'http://127.0.0.1:9')),
    doorward([...typed(command), '--json'], at(folder, refusing)),
    doorward(typed(command), at(folder, refusing, { DOORWARD_TOKEN: '' })),
  ]);
  if (missing) {
    expect([missing.code, missing.stdout], `${name}: ${missing.stderr}`).toEqual([7, '']);
    expect(JSON.parse(missing.stderr), name).toMatchObject({ code: 'UNREACHABLE' });
  }
  expect([refused.code, refused.stdout], `${name}: ${refused.stderr}`).toEqual([3, '']);
  expect(JSON.parse(refused.stderr), name).toMatchObject({
    code: 'UNAUTHENTICATED',
    status: 401,
    requestId: 'r-1',
  });
  expect([nobody.code, nobody.stdout], `${name}: ${nobody.stderr}`).toEqual([3, '']);
  expect(nobody.stderr, name).toMatch(/^error: .* {2}NOT_SIGNED_IN$/m);
  expect(isPlain(nobody.stderr), name).toBe(true);
}

/** Starts a service that rejects every token. */
export const startRefusing = (servers: Servers) =>
  servers.listen((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'Sign in.', code: 'UNAUTHENTICATED', requestId: 'r-1' }));
  });

/** Expects exit code 130 when the command is interrupted before the service responds. */
export async function expectInterrupted(
  { name, command }: NamedCommand,
  folder: string,
  servers: Servers,
): Promise<void> {
  const { server, url } = await servers.listen(() => undefined);
  const asked = once(server, 'request');
  const run = startDoorward(typed(command), at(folder, url));
  expect(await Promise.race([asked.then(() => null), run.ended]), name).toBeNull();
  run.interrupt();
  const { code, stdout, stderr } = await run.ended;
  expect([code, stdout], name).toEqual([130, '']);
  expect(stderr, name).toMatch(/interrupted/);
}
