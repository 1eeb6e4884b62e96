/* Sign-in with a passkey, without entering an address (docs/guides/passkeys.md). */

import { eq } from 'drizzle-orm';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { newSession, openSession, SignIn } from '../../sessions/sign-in.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { beginAssertion, checkAssertion, proofOf } from '../webauthn/assertion.ts';
import { forSignIn } from '../webauthn/challenge.ts';
import { AssertionCredential, passkeyChallengeId } from '../webauthn/credential.ts';
import { PasskeyRequest } from '../webauthn/options.ts';
import { acceptPasskey } from '../protection/accept-passkey.ts';
import { isOverdue, verificationRequired } from '../protection/verification-deadline.ts';
import { fail } from '../../errors.ts';
import { mutation } from '../../declare.ts';
import { refuse } from '../../kernel/output/reply.ts';
import { users } from '../../schema/people/user.ts';

export const passkeyOptions = mutation({
  rest: 'POST /auth/passkey/options',
  whileImpersonating: 'refused',
  summary: 'Begin to use a passkey: the options for `navigator.credentials.get`',
  description:
    'The options are the same for everybody but for the challenge, which can be answered once, for 5 minutes: to sign in, or as second factor.',
  access: 'public',
  permissionChange: 'none',
  limit: 'network',
  input: {},
  output: PasskeyRequest,
  run: (ctx) => {
    // The call concerns no user, so there is nothing to audit.
    ctx.unchanged();
    return beginAssertion(ctx.tx, ctx.services, forSignIn);
  },
});

const refused = () =>
  refuse(
    fail('UNAUTHENTICATED', {
      fix: 'Ask for new options, and answer them once, within 5 minutes, with a passkey of this service; or sign in in another way.',
    }),
  );

export const signInWithPasskey = mutation({
  rest: 'POST /auth/passkey',
  whileImpersonating: 'refused',
  summary: 'Sign in with a passkey',
  description:
    'A passkey that verified its user, by PIN or biometrics, is two factors: the session is `aal2`. Otherwise a second factor is asked for where the user has one.',
  access: 'public',
  permissionChange: 'none',
  input: { challengeId: passkeyChallengeId, credential: AssertionCredential },
  output: SignIn,
  emits: 'session.created',
  codes: ['UNAUTHENTICATED', 'EMAIL_VERIFICATION_REQUIRED'],
  limit: {
    class: 'auth',
    key: ({ credential }, { network }) => `signInWithPasskey ${hashOneTimeToken(credential.id)} ${network}`,
  },
  prepare: async ({ tx, services, input }) => {
    const check = await checkAssertion(tx, services, input, forSignIn);
    const checkedAt = performance.now();
    const { userId, verified } = check;
    if (userId === null || !verified) return { check, checkedAt, session: null };
    const [user] = await tx.select().from(users).where(eq(users.id, userId));
    const { acr, amr } = proofOf(verified);
    return { check, checkedAt, session: user ? await newSession(services, user, { acr, amr }) : null };
  },
  run: async (ctx) => {
    const { session, ...ended } = ctx.prepared;
    const accepted = await acceptPasskey(ctx, ended);
    if (!accepted || !session) return refused();
    const { user } = accepted;
    if (isOverdue(user, ctx.services)) {
      const target = { type: 'User', id: user.id };
      const node = await nodeOfUser(ctx.tx, user.id);
      ctx.record({ outcome: 'denied', code: 'EMAIL_VERIFICATION_REQUIRED', target, node });
      return refuse(verificationRequired());
    }
    return openSession(ctx, session, user);
  },
});
