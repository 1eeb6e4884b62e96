import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { Context } from '../../services.ts';
import { query } from '../../declare.ts';
import { bare } from '../../kernel/output/reply.ts';
import { organizationClaims } from '../../sign-in/authorize/id-token.ts';
import { openidScopes } from '../../schema/apps/openid-scope.ts';
import { userClaims } from './user-claims.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { users } from '../../schema/people/user.ts';

/* User info (OpenID Connect Core §5.3, openid §5), with GET and POST. */

const UserInfo = z
  .object({
    sub: z.string().describe('Id of the user.'),
    name: z.string().optional().describe('Their name.'),
    email: z.string().optional().describe('Their address.'),
    email_verified: z.boolean().optional().describe('Whether they have verified it.'),
    picture: z.string().optional().describe('Address of their picture.'),
    locale: z.string().optional().describe('Their language.'),
    org_id: z.string().optional().describe('The organization for which they signed in.'),
    org_name: z.string().optional().describe('Its name.'),
    updated_at: z.int().optional().describe('When their profile was changed, in seconds.'),
  })
  .meta({ id: 'ProjectUserInfo', description: 'The user who signed in, with claims of OpenID Connect.' });

const common = {
  summary: 'Read who signed in to the app',
  description:
    'Needs a token of an app. `profile` and `email` decide which claims it gets; an app that asked no scope of OpenID Connect gets all. Unknown claims are left out.',
  access: 'any',
  only: 'rest',
  bare: true,
  cors: 'app',
  protocol: 'oauth',
  input: {},
  output: UserInfo,
  codes: ['FORBIDDEN'],
} as const;

async function answerUserInfo(ctx: Pick<Context, 'tx' | 'principal' | 'services'>) {
  const { type, userId, credentialId } = callerOf(ctx);
  const [row] = await ctx.tx
    .select({ user: users, openid: sessions.openidScopes })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.id, credentialId));
  if (type !== 'projectApp' || row?.user.id !== userId) {
    throw fail('FORBIDDEN', { fix: 'Send a token of a project app.' });
  }
  const { openid, user } = row;
  const session = await ctx.services.credentials.session(credentialId);
  return bare({
    sub: user.id,
    ...organizationClaims(session?.app ?? { organization: null }),
    // An app that requested no scope of OpenID Connect gets all claims.
    ...userClaims(user, openid.length === 0 ? openidScopes : openid),
  });
}

export const projectUserInfo = query({
  ...common,
  rest: 'GET /auth/project/user-info',
  run: answerUserInfo,
});

export const projectUserInfoByPost = query({
  ...common,
  rest: 'POST /auth/project/user-info',
  takesForm: true,
  run: answerUserInfo,
});
