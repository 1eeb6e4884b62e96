import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { INSTALLATION_OPERATOR } from '../../access/installation-roles.ts';
import { AccountType } from '../../schema/people/account.ts';
import { assertPassword } from '../passwords/new-password.ts';
import { password } from '../../sessions/password-sign-in.ts';
import { assertReachable, createUser } from '../addresses/registration.ts';
import { newSession, openSession, SignIn } from '../../sessions/sign-in.ts';
import { systemActor } from '../../people/user-node.ts';
import { addOperator } from '../../people/operators.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../services.ts';
import { email, text } from '../../kernel/input/values.ts';
import { mutation } from '../../declare.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { Locale } from '../../schema/people/user.ts';
import { firstUserTokens } from '../../schema/operators/first-user-token.ts';
import { firstUserTokenState, lockUsers } from './first-user-token.ts';

/**
 * Creates the first user of an installation (identity §1). The token is printed where only an operator can read it, so
 * it proves that its holder runs the service. Their address therefore counts as verified, and the registration mode
 * does not matter.
 */
export const createFirstUser = mutation({
  rest: 'POST /auth/first-user',
  whileImpersonating: 'refused',
  summary: 'Create the first user of the installation',
  description:
    'Works once, while the installation has no user, with the token that the service issues at its start. The address counts as verified.',
  access: 'public',
  input: {
    token: z
      .string()
      .min(1)
      .max(128)
      .meta({
        description: 'The token of the link that the service printed at its start.',
        examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
      }),
    email: email.meta({ description: 'The e-mail address.', examples: ['ada@example.com'] }),
    password,
    name: text(1, 255).meta({ description: 'Their name.', examples: ['Ada Lovelace'] }),
    type: AccountType.default('personal').describe('The type of the first account.'),
    locale: Locale.optional().describe('Language of the mails to the user.'),
  },
  output: SignIn,
  status: 201,
  emits: 'user.created',
  codes: ['INVALID_TOKEN', 'CONFLICT'],
  // Limited by token, so that strangers behind the same proxy cannot use up the holder's attempts.
  limit: {
    class: 'auth',
    key: ({ token }, { network }) => `createFirstUser ${hashOneTimeToken(token)} ${network}`,
  },
  prepare: async ({ tx, services, input }) => {
    const { email: address, name, type, locale = null } = input;
    // Checked before the password is checked and hashed, so that a caller without a token learns nothing and costs no
    // hash.
    await assertMayCreate(tx, services, input.token);
    assertReachable(services, address, 'email');
    await assertPassword(services, input.password, { addresses: [address], name }, 'password');
    const userId = services.ids.next();
    return {
      registrant: { address, name, type, locale },
      userId,
      hash: await services.passwords.hash(input.password),
      session: await newSession(services, { id: userId, emailVerified: true }, { amr: ['pwd'] }),
      signsIn: true,
    };
  },
  run: async (ctx) => {
    const { tx, services, prepared, input } = ctx;
    await lockUsers(tx);
    await assertMayCreate(tx, services, input.token);
    // Deletes the tokens of other processes too, because only one first user can be created.
    await tx.delete(firstUserTokens);
    const user = await createUser(ctx, prepared, null);
    // Not expected: without users, no sign-in method can have the address.
    if (!user) throw taken();
    // In production the link does not make the user an operator: only OPERATORS does.
    const { operators } = services.config;
    if (operators.acceptsFirstUser) {
      const roleId = INSTALLATION_OPERATOR;
      const source = 'development';
      const operator = { userId: user.id, roleId, source, createdBy: null, actor: systemActor } as const;
      await addOperator(ctx, operators, operator);
    }
    return openSession(ctx, prepared.session, user);
  },
});

const taken = () =>
  fail('CONFLICT', {
    fix: 'The installation has a user already: sign in, register, or ask for an invitation.',
  });

/**
 * Checks the token first, so that only its holder learns whether there are users.
 *
 * @throws INVALID_TOKEN, CONFLICT
 */
async function assertMayCreate(db: Executor, services: Services, token: string): Promise<void> {
  const { isValid, hasUsers } = await firstUserTokenState(db, services, token);
  if (!isValid) {
    throw fail('INVALID_TOKEN', {
      fix: 'The link works once, within an hour. Restart the service: it prints a new one if there is no user yet.',
    });
  }
  if (hasUsers) throw taken();
}
