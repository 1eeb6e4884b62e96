import { z } from 'zod';
import { revision } from '../../db/cache/revisions.ts';
import type { UserFilter } from '../../access/policy-snapshots.ts';
import { credentialKey } from '../../kernel/charge.ts';
import { callerOf } from '../../kernel/context.ts';
import { refusal, uuid } from '../../kernel/input/values.ts';
import { query } from '../../declare.ts';
import { namesEtag } from '../../kernel/output/etag.ts';
import { bare } from '../../kernel/output/reply.ts';
import { Scope } from '../../kernel/scope.ts';

/*
 * Policy snapshots, with which a customer's server decides by itself (packages §8.1). They contain the rights of all
 * users of the project. So they are only for servers, and an app that acts on behalf of a user is refused.
 */

const common = {
  access: 'PolicySnapshot:Read',
  only: 'rest',
  bare: ['application/jwt'],
  tenants: ['accountProject', 'organizationProject'],
  notForApps: 'Use an API key of the project: snapshots are for servers.',
  fromMemory: true,
  cors: 'none',
  output: z.string(),
  codes: ['SNAPSHOT_TOO_LARGE'],
} as const;

const users = z
  .array(z.union([z.enum(['all', 'none']), uuid]))
  .min(1)
  .max(100)
  .check((ctx) => {
    const { value, issues } = ctx;
    if (value.length > 1 && value.some((item) => item === 'all' || item === 'none'))
      issues.push(refusal('excluded', value));
  })
  .default(['all'])
  .describe('`all`, `none`, or up to 100 ids of the users to list.');

function userFilterOf(input: readonly string[]): UserFilter {
  const [first] = input;
  return first === 'all' || first === 'none' ? first : [...new Set(input)].sort();
}

/** How many checks a snapshot counts as. */
const POINTS = 100;

const etagOf = (version: string): string => `"${version}"`;
const headers = { 'content-type': 'application/jwt', 'cache-control': 'private, no-cache' };

export const policySnapshot = query({
  ...common,
  rest: 'GET /policy-snapshot',
  summary: 'Read everything that decisions about a project need, signed',
  description:
    'A JWS of type doorward-snapshot+jwt, signed with the key of the project. It counts as 100 checks.',
  etag: true,
  fromMemory: () => 'rows',
  limit: { class: 'check', key: () => '', points: () => POINTS },
  input: { scope: Scope, users, minRevision: revision.optional() },
  run: async ({ services, scope, input, call }) => {
    const { policySnapshots } = services;
    const filter = userFilterOf(input.users);
    if (call.ifNoneMatch !== null) {
      const etag = etagOf(await policySnapshots.version(scope, filter));
      // REST turns this answer into a 304, so the document need not be made and signed.
      if (namesEtag(call.ifNoneMatch, etag)) return bare(null, { ...headers, etag });
    }
    const { version, document } = await policySnapshots.snapshot(scope, filter);
    return bare(document, { ...headers, etag: etagOf(version) });
  },
});

export const policySnapshotChanges = query({
  ...common,
  rest: 'GET /policy-snapshot/changes',
  summary: 'Wait for a change of a policy snapshot',
  description:
    'A JWS of type doorward-changes+jwt, at the first change or after the time. full: true means to read the whole snapshot again.',
  waits: true,
  limit: { class: 'check', key: () => '' },
  input: {
    scope: Scope,
    since: z
      .string()
      .regex(/^[\w-]{1,64}$/)
      .describe('The version that the caller has.'),
    users,
    timeoutSeconds: z.int().min(0).max(30).default(2).describe('How long to wait for a change.'),
    minRevision: revision.optional(),
  },
  run: async (ctx) => {
    const { services, scope, input, call } = ctx;
    const credential = credentialKey(callerOf(ctx), call);
    const document = await services.policySnapshots.changes(scope, userFilterOf(input.users), {
      since: input.since,
      timeoutMs: input.timeoutSeconds * 1000,
      credential,
      chargeRead: () => services.limiter.consume('check', credential, POINTS - 1),
      assertPermitted: ctx.assertStillPermitted,
      onGone: call.slot.onGone,
    });
    return bare(document, headers);
  },
});
