import { z } from 'zod';
import { whoCan as decideAboutHolders } from '../../access/who-can/who-can.ts';
import { revision } from '../../db/cache/revisions.ts';
import { fail } from '../../errors.ts';
import { credentialKey } from '../../kernel/charge.ts';
import { callerOf } from '../../kernel/context.ts';
import { uuid } from '../../kernel/input/values.ts';
import { query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { assertCallerMay } from '../../access/caller-may.ts';
import { DecisionReason, MatchedPermission } from './decision.ts';
import { EffectivePermissions, permissionListOf } from './permission-list.ts';
import { assertOnePermission, question, questionOf } from './question.ts';

/* Questions about the users of a scope, for callers who may ask about others there. */

const tenants: readonly Tenant[] = ['organization', 'accountProject', 'organizationProject'];

const AllowedSubject = z
  .object({
    subject: z
      .object({
        type: z.literal('user').describe('The kind of subject.'),
        id: uuid.describe('Id of the user.'),
      })
      .meta({ id: 'AllowedUser', description: 'A user who may do it.' }),
    reason: DecisionReason.describe('Why the user may do it.'),
    matchedPermission: MatchedPermission.describe('The permission that allows it.'),
  })
  .meta({ id: 'AllowedSubject', description: 'A subject that may do it, and why.' });

const WhoCanPage = z
  .object({
    items: z.array(AllowedSubject).describe('The users who may do it, by id.'),
    nextCursor: z.string().nullable().describe('Send it as `cursor` for the next page; null on the last.'),
    complete: z
      .boolean()
      .describe('false: others may follow, even if `items` is empty. Go on with `nextCursor`.'),
    revision: z
      .string()
      .describe('The answer contains every change whose `X-Doorward-Revision` is this one or earlier.'),
  })
  .meta({ id: 'WhoCanPage', description: 'Some of the users who may do something in a scope now.' });

/** How many checks a page counts as. */
const POINTS = 10;

export const whoCan = query({
  rest: 'POST /auth/who-can',
  access: 'Authorization:Check',
  summary: 'List the users who may do something in a scope now',
  description:
    'Also needs User:Query. Contains every user about whom isAuthorized would answer true for the same question. A page decides about at most 5,000 users who hold the permission, and counts as 10 checks: go on while `complete` is false.',
  tenants,
  admits: ['project-owner'],
  limit: { class: 'check', key: () => '', points: () => POINTS },
  input: {
    ...question,
    scope: Scope,
    limit: z.int().min(1).max(100).default(50).describe('The maximum number of users on a page.'),
    cursor: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe('Continues the list: the `nextCursor` of the previous page.'),
    minRevision: revision.optional(),
  },
  output: WhoCanPage,
  codes: ['INVALID_CURSOR'],
  run: async (ctx) => {
    const { tx, scope, rights, input, services, call } = ctx;
    assertOnePermission(input, '');
    assertCallerMay(rights, 'User:Query');
    const requested = questionOf(input);
    const binding = JSON.stringify([
      'whoCan',
      credentialKey(callerOf(ctx), call),
      scope.tenant,
      scope.id,
      requested,
    ]);
    const { items, continueAfter, below } = await decideAboutHolders({
      tx,
      scope,
      question: requested,
      names: rights.grants.held,
      after: input.cursor === undefined ? null : services.cursors.open(input.cursor, binding).id,
      limit: input.limit,
      work: call.work,
    });
    return {
      items: items.map(({ userId: id, decision: { reason, matchedPermission } }) => ({
        subject: { type: 'user' as const, id },
        reason,
        matchedPermission: matchedPermission as z.output<typeof MatchedPermission>,
      })),
      nextCursor:
        continueAfter === null ? null : services.cursors.seal({ value: '', id: continueAfter }, binding),
      complete: continueAfter === null,
      revision: services.revisions.seal(below - 1),
    };
  },
});

export const userPermissions = query({
  rest: 'GET /users/:id/permissions',
  access: 'Authorization:Check',
  summary: 'List what a user may do in a scope',
  description:
    'For a user of the scope: in a project also a member of its organization, or the owner of its account. Complete and sorted, like myPermissions; empty for a user who is disabled.',
  tenants,
  fromMemory: true,
  etag: 'version',
  input: {
    scope: Scope,
    id: uuid.describe('Id of the user.'),
    minRevision: revision.optional(),
  },
  output: EffectivePermissions,
  codes: ['NOT_FOUND'],
  run: async ({ scope, input, services }) => {
    const rights = await services.resolver.rightsOfUser(scope, input.id);
    if (!rights.subject.related) throw fail('NOT_FOUND');
    return permissionListOf(scope, rights);
  },
});
