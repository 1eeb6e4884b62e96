import type { Client } from '@doorward/node/client';
import { randomUUID } from 'node:crypto';
import { shownFault } from '../fault.ts';
import type { Run } from '../run.ts';
import { visible } from '../output/text.ts';
import type { UserLine } from './read-users.ts';

/** How many users one request carries, and how many characters, which is less than the service takes. */
const BATCH_USERS = 250;
const BATCH_LENGTH = 600_000;

export interface Counts {
  created: number;
  existing: number;
  claimed: number;
  readonly refused: { readonly line: number; readonly message: string }[];
}

interface Sent {
  readonly line: number;
  readonly user: Readonly<Record<string, unknown>>;
}

interface Sending {
  readonly run: Run;
  readonly doorward: Client;
  readonly counts: Counts;
  /** The id of a role by its name; undefined for a name that the scope does not have. */
  readonly roleOf: (name: string) => string | undefined;
}

/** Sends the users in batches. Lines that the service refuses are reported, and the others of their batch are sent. */
export async function sendUsers(sending: Sending, lines: AsyncIterable<UserLine>): Promise<void> {
  let batch: Sent[] = [];
  let length = 0;
  for await (const line of lines) {
    const sent = toSend(sending, line);
    if (!sent) continue;
    batch.push(sent);
    length += JSON.stringify(sent.user).length;
    if (batch.length < BATCH_USERS && length < BATCH_LENGTH) continue;
    await sendBatch(sending, batch);
    [batch, length] = [[], 0];
  }
  await sendBatch(sending, batch);
}

/** The user as the service takes them, with ids in place of the names of roles; undefined for a line that it cannot take. */
function toSend(sending: Sending, line: UserLine): Sent | undefined {
  if ('problem' in line) return refuse(sending, line.line, line.problem);
  const { roles, ...user } = line.user;
  if (roles === undefined) return { line: line.line, user };
  if (!Array.isArray(roles)) return refuse(sending, line.line, 'roles: This must be a list of names.');
  const names = roles.map((name) => (typeof name === 'string' ? name : JSON.stringify(name)));
  const roleIds = names.map((name) => sending.roleOf(name));
  const missing = names.find((_, at) => roleIds[at] === undefined);
  if (missing !== undefined) return refuse(sending, line.line, `roles: There is no role ${missing}.`);
  return { line: line.line, user: { ...user, roleIds } };
}

async function sendBatch(sending: Sending, batch: readonly Sent[]): Promise<void> {
  const { run, doorward, counts } = sending;
  let left = batch;
  while (left.length > 0) {
    const input = { users: left.map(({ user }) => user) as never, validateOnly: run.flags.dryRun };
    const answer = await run.terminal.waiting(
      doorward.api
        .importUsers(input, { signal: run.signal, idempotencyKey: randomUUID() })
        .catch((error: unknown) => withoutRefused(sending, left, error)),
    );
    if (!('users' in answer)) {
      left = answer;
      continue;
    }
    const count = (status: string) => answer.users.filter((user) => user.status === status).length;
    counts.created += answer.created;
    counts.existing += count('exists');
    counts.claimed += count('claimed');
    return;
  }
}

/** The rest of a batch whose answer names wrong users. @throws the error, if it is another */
function withoutRefused(sending: Sending, batch: readonly Sent[], error: unknown): readonly Sent[] {
  const { details } = shownFault(error);
  const wrong = new Map<number, string>();
  for (const { path, message } of details) {
    const [, at, member = ''] = /^users\.(\d+)\.?(.*)$/.exec(path) ?? [];
    if (at === undefined) throw error;
    if (!wrong.has(Number(at))) wrong.set(Number(at), member === '' ? message : `${member}: ${message}`);
  }
  if (wrong.size === 0) throw error;
  for (const [at, message] of wrong) refuse(sending, batch[at]?.line ?? 0, message);
  return batch.filter((_, at) => !wrong.has(at));
}

function refuse({ run, counts }: Sending, line: number, message: string): undefined {
  counts.refused.push({ line, message });
  if (!run.terminal.isJson) run.terminal.say(`line ${line}: ${visible(message)}`);
}
