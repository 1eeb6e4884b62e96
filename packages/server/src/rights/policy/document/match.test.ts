import type { PolicyDocument } from '@doorward/decision/document/document';
import { expect, it } from 'vitest';
import { leastToll } from '../../../../test/support/app/event-loop.ts';
import { builtIns } from '../../../access/built-in.ts';
import { compare } from './match.ts';
import type { State, StoredRow } from './state.ts';

const empty = { tags: {}, resources: {}, permissions: {}, groups: {}, roles: {}, apps: {}, webhooks: {} };
const ROWS = 20_000;
/** Twenty times what it usually takes, and a tenth of what it takes to copy a list for each row. */
const BOUND_MS = 2000;

it('many rows of one name are compared in time that grows with their number', async () => {
  const groups = Array.from({ length: ROWS }, (_, index): StoredRow => {
    const id = `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    const fields = { description: null, metadata: {}, permissions: [], tags: [] };
    return { kind: 'groups', id, name: 'Same', policyKey: null, policyHold: 'none', changedAt: '', fields };
  });
  const none = { tags: [], resources: [], permissions: [], roles: [], apps: [], webhooks: [] };
  const state: State = { version: '', rows: { ...none, groups } };
  const work = () => Promise.resolve(compare(state, builtIns([]), empty as unknown as PolicyDocument));
  const { result, blockedMs } = await leastToll(BOUND_MS, work);
  expect(blockedMs).toBeLessThan(BOUND_MS);
  expect(Object.keys(result.all.before.groups)).toHaveLength(ROWS);
});
