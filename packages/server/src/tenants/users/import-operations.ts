import { z } from 'zod';
import { assertInstallationOperator } from '../../people/installation-operator.ts';
import { reservedAddresses } from '../../people/reserved-addresses.ts';
import { installationNode } from '../../people/operators.ts';
import { ImportedUser, ImportStatus } from './import/imported-user.ts';
import { importUsers as importAll } from './import/import-users.ts';
import { fail, type Detail } from '../../errors.ts';
import { uuid } from '../../kernel/input/values.ts';
import { mutation } from '../../declare.ts';
import { Scope } from '../../kernel/scope.ts';

/** Maximum number of users per call. The size limit of bodies applies too. */
const MAX_USERS = 500;
/** The maximum number of faults that an error names, as for any input (conventions §2). */
const MAX_DETAILS = 20;

const Outcome = z
  .object({
    email: z.string().describe('The address, in lower case.'),
    status: ImportStatus.describe('What became of the user.'),
    id: uuid.nullable().describe('Id of the user; null with `validateOnly`, and for a claimed address.'),
  })
  .meta({ id: 'UserImportOutcome', description: 'What became of one user of an import.' });

/**
 * Imports users into a project. Their passwords and verified addresses are valid in the whole installation, so the
 * caller needs the permission in the project and must be an Installation Operator too.
 */
export const importUsers = mutation({
  rest: 'POST /users/import',
  whileImpersonating: 'refused',
  access: 'User:Create',
  sessionOnly: true,
  stepUp: true,
  summary: 'Import users of another service into a project, with the hashes of their passwords',
  description:
    'The caller has to be Installation Operator too. An address that a user of the installation has is left as it is, so the same call can be repeated. A hash is replaced by one of this service at the first sign-in.',
  tenants: ['accountProject', 'organizationProject'],
  input: {
    scope: Scope,
    users: z.array(ImportedUser).min(1).max(MAX_USERS).describe('The users; each address once.'),
    validateOnly: z.boolean().default(false).describe('true: check everything and change nothing.'),
  },
  output: z
    .object({
      created: z.int().describe('How many users were created, or would be.'),
      users: z.array(Outcome).describe('What became of each user, in the order of the call.'),
    })
    .meta({ id: 'UserImport', description: 'The result of an import of users.' }),
  codes: ['NOT_FOUND', 'PRIVILEGE_ESCALATION', 'CONFLICT', 'MFA_REQUIRED'],
  run: async (ctx) => {
    const { input, scope } = ctx;
    await assertInstallationOperator(
      ctx,
      'Only an Installation Operator can import users, because their passwords and addresses count in the whole installation.',
    );
    if (scope.grant) throw fail('FORBIDDEN', { fix: 'Import the users into the project itself.' });
    assertDistinct(input.users);
    const addresses = input.users.map(({ email }) => email);
    assertCanSignIn(input.users, await reservedAddresses(ctx, addresses));
    const { validateOnly: changesNothing } = input;
    const outcomes = await importAll(ctx, input.users, { changesNothing });
    const created = outcomes.filter(({ status }) => status === 'created').length;
    if (changesNothing || created === 0) ctx.unchanged();
    else {
      ctx.record({
        node: installationNode,
        target: { type: 'Project', id: scope.nodeId },
        metadata: { created },
        audited: true,
      });
    }
    return { created, users: outcomes };
  },
});

/** Asserts that no address occurs twice. @throws VALIDATION_ERROR */
function assertDistinct(users: readonly { readonly email: string }[]): void {
  const seen = new Set<string>();
  for (const [at, { email: address }] of users.entries()) {
    if (seen.has(address)) {
      throw fail('VALIDATION_ERROR', { details: [{ path: `users.${at}.email`, code: 'duplicate' }] });
    }
    seen.add(address);
  }
}

type Line = Pick<ImportedUser, 'email' | 'emailVerified' | 'passwordHash'>;

/**
 * Refuses a verified address that is reserved for an operator, because the import would create an operator. Also
 * refuses a user with neither a verified address nor a password, because no one could ever sign in as that user: a
 * person who proves the address by a mailed code becomes another user.
 * @throws VALIDATION_ERROR
 */
function assertCanSignIn(users: readonly Line[], reserved: ReadonlySet<string>): void {
  const details = users.flatMap(({ email, emailVerified, passwordHash }, at): Detail[] => {
    if (emailVerified && reserved.has(email))
      return [{ path: `users.${at}.emailVerified`, code: 'not_allowed' }];
    return emailVerified || passwordHash !== undefined
      ? []
      : [{ path: `users.${at}.passwordHash`, code: 'required' }];
  });
  if (details.length === 0) return;
  throw fail('VALIDATION_ERROR', {
    details: details.slice(0, MAX_DETAILS),
    fix: 'A user needs a verified address or a password. Owners of addresses that are reserved for operators verify them by mail.',
  });
}
