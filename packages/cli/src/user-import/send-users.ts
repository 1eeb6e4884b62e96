import type { Client, components } from '@doorward/node/client';
import { randomUUID } from 'node:crypto';
import { shownFault } from '../fault.ts';
import type { Run } from '../run.ts';
import { visible } from '../output/text.ts';
import type { Place, UserEntry } from './read-users.ts';

/** Maximum number of users and of characters in one request. Both are below the limits of the service. */
const BATCH_USERS = 250;
const BATCH_LENGTH = 600_000;

export interface Counts {
  created: number;
  existing: number;
  claimed: number;
  readonly refused: (Place & { readonly message: string })[];
}

type UsersInput = components['schemas']['OperationInputs']['importUsers']['users'];

interface Sent {
  readonly place: Place;
  readonly user: Readonly<Record<string, unknown>>;
}

interface Sending {
  readonly run: Run;
  readonly doorward: Client;
  readonly counts: Counts;
  /** Returns the id of the role with this name; undefined if the scope has no such role. */
  readonly roleOf: (name: string) => string | undefined;
  /** Hints that were already shown, because many users often have the same problem. */
  readonly shownHints: Set<string>;
}

/** Sends users in batches. Reports users that the service refuses, and sends the rest of their batch. */
export async function sendUsers(sending: Sending, entries: AsyncIterable<UserEntry>): Promise<void> {
  let batch: Sent[] = [];
  let length = 0;
  for await (const entry of entries) {
    const sent = toSend(sending, entry);
    if (!sent) continue;
    batch.push(sent);
    length += JSON.stringify(sent.user).length;
    if (batch.length < BATCH_USERS && length < BATCH_LENGTH) continue;
    await sendBatch(sending, batch);
    [batch, length] = [[], 0];
  }
  await sendBatch(sending, batch);
}

/** Converts an entry to the input of the service, with role ids instead of names. Reports it if that isn't possible. */
function toSend(sending: Sending, entry: UserEntry): Sent | undefined {
  const { place } = entry;
  if ('problem' in entry) return refuse(sending, place, entry.problem);
  const { roles, ...user } = entry.user;
  if (roles === undefined) return { place, user };
  if (!Array.isArray(roles)) return refuse(sending, place, 'roles: This must be a list of names.');
  const names = roles.map((name) => (typeof name === 'string' ? name : JSON.stringify(name)));
  const roleIds = names.map((name) => sending.roleOf(name));
  const missing = names.find((_, at) => roleIds[at] === undefined);
  if (missing !== undefined) return refuse(sending, place, `roles: There is no role ${missing}.`);
  return { place, user: { ...user, roleIds } };
}

async function sendBatch(sending: Sending, batch: readonly Sent[]): Promise<void> {
  const { run, doorward, counts } = sending;
  let left = batch;
  while (left.length > 0) {
    // The service validates the values, so the cast is safe.
    const users = left.map(({ user }) => user) as UsersInput;
    const input = { users, validateOnly: run.flags.dryRun };
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

/** Reports the users that the service refused. @returns the rest of the batch. @throws other errors unchanged */
function withoutRefused(sending: Sending, batch: readonly Sent[], error: unknown): readonly Sent[] {
  const { details, hint } = shownFault(error);
  const wrong = new Map<number, string>();
  for (const { path, message } of details) {
    const [, at, member = ''] = /^users\.(\d+)\.?(.*)$/.exec(path) ?? [];
    if (at === undefined) throw error;
    if (!wrong.has(Number(at))) wrong.set(Number(at), member === '' ? message : `${member}: ${message}`);
  }
  if (wrong.size === 0) throw error;
  for (const [at, message] of wrong) {
    const sent = batch[at];
    if (sent) refuse(sending, sent.place, message);
  }
  if (hint !== undefined) showHint(sending, hint);
  return batch.filter((_, at) => !wrong.has(at));
}

/** Shows a hint once, without the indexes of the batch, because they aren't lines of the file. */
function showHint({ run, shownHints }: Sending, hint: string): void {
  const text = hint.replaceAll(/\busers\.\d+\./g, '');
  if (shownHints.has(text)) return;
  shownHints.add(text);
  run.terminal.note(`hint: ${visible(text)}`);
}

function refuse({ run, counts }: Sending, place: Place, message: string): undefined {
  counts.refused.push({ ...place, message });
  const [[unit, number] = ['line', 0]] = Object.entries(place);
  if (!run.terminal.isJson) run.terminal.say(`${unit} ${number}: ${visible(message)}`);
}
