import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { Call, Principal } from '../../kernel/context.ts';
import type { ScopeAndRights } from '../../kernel/stages.ts';
import type { CallInput, NamedOperation } from '../../kernel/operation.ts';
import { createAdmission, type Admission } from './admission.ts';
import { releaseSlot } from './request-slot.ts';

/** Who is next where the database has one slot, which the first request holds. */
let admission: Admission;
let begun: { readonly name: string; readonly call: Call }[];
beforeEach(() => {
  const limits = { maxWaitMs: 5000, maxQueue: 1000, databaseSlots: 1, onEventLoop: false };
  admission = createAdmission({ services: {}, ...limits });
  begun = [];
  arrive('first', null);
});

const write = { access: 'Tag:Create' } as unknown as NamedOperation;
const [org, other] = ['0192-org', '0192-other'];

function arrive(name: string, principal: Principal | null, scopeId?: string): void {
  const slot: Call['slot'] = { taken: null, reading: null, bodyLength: 0, onGone: () => () => undefined };
  const call = { network: '192.0.2.1', slot } as Call;
  const input: CallInput = scopeId === undefined ? {} : { scope: { tenant: 'organization', id: scopeId } };
  const waited = admission.admit(write, input, call, principal);
  const begin = (): void => void begun.push({ name, call });
  if (waited instanceof Promise) void waited.then(begin);
  else begin();
}

/** Answers so many, one after the other. @returns who began after the first */
async function answered(count: number): Promise<string[]> {
  for (let place = 0; place < count; place++) {
    const call = begun[place]?.call;
    if (call) releaseSlot(call);
    await nextTurn();
  }
  return begun.slice(1).map(({ name }) => name);
}

const session = (userId: string) =>
  ({ type: 'session', userId, credentialId: `of ${userId}`, pinned: null }) as Principal;
const key = (credentialId: string, owner: string) =>
  ({
    type: 'ApiKey',
    userId: 'maker',
    credentialId,
    pinned: { tenant: 'organizationProject', id: `${owner}:p` },
  }) as Principal;
const match = (organizationId: string) => ({ scope: { accountId: null, organizationId } }) as ScopeAndRights;

test('all keys of a tenant have one share, whatever project they are for', async () => {
  for (const name of ['k1', 'k2', 'k3', 'k4']) arrive(name, key(name, org));
  arrive('quiet', key('k9', other));
  expect((await answered(5)).indexOf('quiet')).toBeLessThanOrEqual(1);
});

test('members of an organization have one share there, once they are known to belong to it', async () => {
  const members = ['m1', 'm2', 'm3', 'm4'].map(session);
  for (const member of members)
    admission.rememberOwner(member, { tenant: 'organization', id: org }, match(org));
  for (const member of members) arrive(member.userId, member, org);
  arrive('quiet', key('k9', other));
  expect((await answered(5)).indexOf('quiet')).toBeLessThanOrEqual(1);
});

test('who names the scope of a tenant waits on their own account until they are known to belong to it', async () => {
  const stranger = session('stranger');
  for (let place = 0; place < 4; place++) arrive('stranger', stranger, org);
  arrive('stranger at home', stranger);
  arrive('key', key('k1', org));
  const order = await answered(6);
  expect(order.indexOf('key')).toBeLessThanOrEqual(1);
  // What they do elsewhere waits behind it: it is the same share.
  expect(order.at(-1)).toBe('stranger at home');
});

test('a request waits once, whatever it consists of', async () => {
  const slot: Call['slot'] = { taken: null, reading: null, bodyLength: 0, onGone: () => () => undefined };
  const call = { network: '192.0.2.2', slot } as Call;
  const all = [1, 2].map(async () => admission.admit(write, {}, call, session('ada')));
  expect(admission.queues[0]?.waiting).toBe(1);
  await answered(1);
  expect(await Promise.all(all)).toEqual([true, true]);
  releaseSlot(call);
  expect(admission.queues[0]?.running).toBe(0);
});
