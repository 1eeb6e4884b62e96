import { isOperator } from '../../people/operators.ts';
import { equals } from '../../db/query/filters.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { text, uuid } from '../../kernel/input/values.ts';
import { query } from '../../declare.ts';
import { Scope } from '../../kernel/scope.ts';
import { UserKind, UserStatus, users } from '../../schema/people/user.ts';
import { installation } from './inputs.ts';
import { kindOfSearch, usersBy } from './search.ts';
import { InstallationUser } from '../../schema/operators/installation-user.ts';
import { InstallationUserDetails, readDetails } from './user-details.ts';

/** Maximum number of found users in the audit entry of a search. */
const MAX_NAMED = 20;

export const installationUsers = query({
  ...installation,
  rest: 'GET /installation/users',
  access: 'InstallationUser:Query',
  summary: 'List or search the users of the installation',
  description:
    'Every search is audited, with the kind of what was searched for and the ids of the users that it found. `totalCount` may be a minute old.',
  audited: true,
  permissionChange: 'none',
  input: {
    scope: Scope,
    ...paging(InstallationUser),
    search: text(2, 255)
      .optional()
      .meta({
        description:
          'An id, a whole address, a domain as `@example.com`, or words of the name or their beginnings.',
        examples: ['@example.com'],
      }),
    status: UserStatus.optional(),
    kind: UserKind.optional(),
  },
  output: pageOf(InstallationUser),
  run: async (ctx) => {
    const { db, input } = ctx;
    const { search, status, kind, ids } = input;
    const page = await db.page(InstallationUser, input, [
      search === undefined
        ? undefined
        : usersBy(search, { id: users.id, address: users.email, name: users.name }),
      equals(InstallationUser, 'status', status),
      equals(InstallationUser, 'kind', kind),
    ]);
    if (search === undefined && ids === undefined) ctx.unchanged();
    else {
      // The entry does not contain the text: an address or a name would stay in the log after its user is erased.
      const userIds = page.items.slice(0, MAX_NAMED).map((user) => user.id);
      const by = search === undefined ? 'ids' : kindOfSearch(search);
      ctx.record({ metadata: { by, count: page.totalCount, userIds } });
    }
    return page;
  },
});

export const installationUser = query({
  ...installation,
  rest: 'GET /installation/users/:id',
  access: 'InstallationUser:Query',
  summary: 'Read a user with their sign-in methods, sessions, memberships and accounts',
  description: 'Without secrets, and without what tenants store about the user. Every view is audited.',
  audited: true,
  permissionChange: 'none',
  input: { scope: Scope, id: uuid },
  output: InstallationUserDetails,
  target: InstallationUser,
  run: async (ctx) => {
    const { tx, target, services } = ctx;
    const details = await readDetails(tx, target.id, services.clock.now());
    ctx.record({ target: { type: 'User', id: target.id } });
    return { ...target, ...details, isOperator: await isOperator(tx, services.config.operators, target.id) };
  },
});
