import type { z } from 'zod';
import { evaluate, locate, type Grants } from '@doorward/decision/evaluate';
import { namesOfUsers } from '../../../access/user-names.ts';
import { whoCan } from '../../../access/who-can/who-can.ts';
import { credentialKey } from '../../../kernel/charge.ts';
import { callerOf } from '../../../kernel/context.ts';
import type { Context } from '../../../services.ts';
import { query } from '../../../declare.ts';
import type { RequestWork } from '../../../kernel/request-work.ts';
import { bare } from '../../../kernel/output/reply.ts';
import { Scope, tenants } from '../../../kernel/scope.ts';
import { assertCallerMay } from '../../../access/caller-may.ts';
import { ActionResults, SubjectResults } from './answers.ts';
import { createComposer } from './attributes.ts';
import { Action, Page, RequestContext, Resource, Subject, SubjectType } from './request.ts';
import { isOtherUser, loadSubjects } from './subjects.ts';

/* The search endpoints of OpenID AuthZEN Authorization API 1.0 §8 (authzen §4). */

const common = {
  only: 'rest',
  bare: true,
  protocol: 'authzen',
  scopeOptional: true,
  codes: ['FORBIDDEN', 'INVALID_CURSOR'],
} as const;

/** How many checks a search counts as. */
const POINTS = 10;
const limit = { class: 'check', key: () => '', points: () => POINTS } as const;

export const authzenSubjectSearch = query({
  ...common,
  rest: 'POST ~/access/v1/search/subject',
  access: 'Authorization:Check',
  summary: 'Search for the users who may do something now (AuthZEN)',
  description:
    'As whoCan: also needs User:Query, and counts as 10 checks. Go on while `next_token` is not empty, even if there are no results.',
  tenants: ['organization', 'accountProject', 'organizationProject'],
  fromMemory: () => 'rows',
  limit,
  input: {
    subject: SubjectType,
    action: Action,
    resource: Resource,
    context: RequestContext,
    page: Page.optional(),
    scope: Scope,
  },
  output: SubjectResults,
  run: async (ctx) => {
    const { call, input, read, rights, scope } = ctx;
    const attributes = createComposer()(input);
    assertCallerMay(rights, 'User:Query');
    const { after, size, seal } = pageOf(ctx, 'authzenSubjectSearch');
    if (input.subject.type !== 'user') return bare({ results: [], page: { next_token: '', count: 0 } });
    const question = { resource: input.resource.type, action: input.action.name, attributes };
    const { items, continueAfter } = await read((tx) =>
      whoCan({
        tx,
        scope,
        question,
        names: rights.grants.held,
        after: after?.id ?? null,
        limit: size,
        work: call.work,
      }),
    );
    const nameOf = await namesOfUsers(
      ctx,
      items.map(({ userId }) => userId),
    );
    const results = items.map(({ userId }) => ({ type: 'user', id: nameOf(userId) }));
    const next_token = continueAfter === null ? '' : seal({ value: '', id: continueAfter });
    return bare({ results, page: { next_token, count: results.length } });
  },
});

export const authzenActionSearch = query({
  ...common,
  rest: 'POST ~/access/v1/search/action',
  access: 'any',
  summary: 'Search for what a subject may do with an object now (AuthZEN)',
  description:
    'Decides about every action of the resource, with the given attributes; counts as 10 checks. About another user it needs Authorization:Check.',
  tenants,
  fromMemory: ({ subject }, principal) => (isOtherUser(subject, principal) ? 'rows' : undefined),
  cors: 'app',
  limit,
  input: {
    subject: Subject,
    resource: Resource,
    context: RequestContext,
    page: Page.optional(),
    scope: Scope,
  },
  output: ActionResults,
  run: async (ctx) => {
    const { subject, resource, context } = ctx.input;
    const attributes = createComposer()({ resource, context });
    const grants = await (await loadSubjects(ctx, [subject]))(subject);
    const { after, size, seal } = pageOf(ctx, 'authzenActionSearch');
    const names = grants ? await actionsOf(grants, resource.type, attributes, ctx.call.work) : [];
    const rest = after ? names.filter((name) => name > after.value) : names;
    const results = rest.slice(0, size).map((name) => ({ name }));
    const last = results.at(-1)?.name ?? '';
    const next_token = rest.length > size ? seal({ value: last, id: '' }) : '';
    return bare({ results, page: { next_token, count: results.length } });
  },
});

/** The sorted names of the actions that the subject may perform on the resource. */
async function actionsOf(
  grants: Grants,
  resource: string,
  attributes: Record<string, unknown>,
  work: RequestWork,
): Promise<string[]> {
  const target = locate(grants.held, resource, '');
  const plane = target.management ? grants.held.management : grants.held.project;
  const names: string[] = [];
  for (const action of plane.get(target.resource)?.keys() ?? []) {
    const { authorized, matchedPermission } = evaluate(grants, { resource, action, attributes }, work);
    if (authorized && matchedPermission) names.push(matchedPermission.action);
    await work.pause();
  }
  return names.sort();
}

const DEFAULT_SIZE = 50;
const MAX_SIZE = 100;

type SearchContext = Pick<Context<{ scope: typeof Scope }>, 'call' | 'principal' | 'scope' | 'services'> & {
  readonly input: { readonly page?: z.output<typeof Page> | undefined };
};

/** The requested page. Its token works only for the same caller, scope, entities and limit. @throws INVALID_CURSOR */
function pageOf(ctx: SearchContext, name: string) {
  const { call, scope, services, input } = ctx;
  const { page = {}, scope: _, ...entities } = { scope: undefined, ...input };
  const size = Math.min(page.limit ?? DEFAULT_SIZE, MAX_SIZE);
  const caller = credentialKey(callerOf(ctx), call);
  const binding = JSON.stringify([name, caller, scope.tenant, scope.id, page.limit ?? null, entities]);
  return {
    // Some clients send an empty token for the first page.
    after: page.token ? services.cursors.open(page.token, binding) : null,
    size,
    seal: (position: { readonly value: string; readonly id: string }) =>
      services.cursors.seal(position, binding),
  };
}
