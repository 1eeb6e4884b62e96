import { and, eq, inArray, lte } from 'drizzle-orm';
import { passwordProblems } from '../../crypto/password-policy.ts';
import type { DoorwardError } from '../../errors.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods, passwords } from '../me/authentication-method.ts';
import { nodeOfUser, userAsActor } from './user-node.ts';
import { users } from '../users/user.ts';
import { claimOf } from './password-sign-in.ts';
import {
  createAccount,
  newSession,
  openSession,
  userData,
  type NewSession,
  type Run,
  type UserRow,
} from './sign-in.ts';
import { flushMails, lockAddress, mayMail, sendVerification } from './verification.ts';
import { addressTakenMail } from './verification-mail.ts';

/** Registration by address and password (identity §1). Nothing is said to an address that is taken but by mail. */
export interface Applicant {
  /** Canonical. */
  readonly address: string;
  readonly password: string;
  readonly name: string;
  readonly locale: UserRow['locale'];
  readonly type: 'personal' | 'organization';
}

export interface PreparedRegistration {
  readonly applicant: Applicant;
  readonly userId: string;
  readonly hash: string;
  readonly mayMail: boolean;
  /** Null where an address must be verified first. */
  readonly session: NewSession | null;
}

const taken = (): DoorwardError => fail('CONFLICT', { details: [{ path: 'providerId', code: 'taken' }] });

/** Checks and hashes. @throws VALIDATION_ERROR, FORBIDDEN when closed, CONFLICT, RATE_LIMITED, UNAVAILABLE */
export async function prepareRegistration(
  db: Executor,
  services: Services,
  network: string,
  applicant: Applicant,
): Promise<PreparedRegistration> {
  const { config, clock, ids, limiter } = services;
  const { address, password, name } = applicant;
  const mode = config.auth.registrationMode;
  if (mode === 'closed') {
    throw fail('FORBIDDEN', { fix: 'Registration is closed here; ask for an invitation.' });
  }
  await assertAcceptable(services, applicant);
  if (mode === 'immediate') {
    // This is an account oracle, so only so many addresses can be asked about from one network (identity §1).
    await limiter.consume('auth', `taken ${network}`, 0);
    const claim = await claimOf(db, address);
    if (claim && !isLapsed(claim.user, clock.now())) {
      await limiter.consume('auth', `taken ${network}`);
      throw taken();
    }
  }
  const userId = ids.next();
  return {
    applicant: { ...applicant, name },
    userId,
    hash: await services.passwords.hash(password),
    mayMail: await mayMail(services, address),
    session:
      mode === 'immediate'
        ? await newSession(services, { id: userId, emailVerified: false }, { amr: ['pwd'] })
        : null,
  };
}

async function assertAcceptable({ config }: Services, { address, password, name }: Applicant): Promise<void> {
  if (config.production && address.endsWith('@localhost')) {
    throw fail('VALIDATION_ERROR', { details: [{ path: 'providerId', code: 'format' }] });
  }
  const problems = await passwordProblems(password, {
    minLength: config.auth.passwordMinLength,
    identity: { email: address, name },
  });
  if (problems.length > 0) {
    const path = 'providerData.password';
    throw fail('VALIDATION_ERROR', { details: problems.map((code) => ({ path, code })) });
  }
}

const isLapsed = (user: UserRow, now: Date): boolean =>
  !user.emailVerified && user.verificationDeadline !== null && user.verificationDeadline <= now;

/** User, method, password, account, session and mail. A lapsed claim gives way; a live one wins, in a race too. */
export async function register(ctx: Run, prepared: PreparedRegistration) {
  const { tx, services } = ctx;
  const { applicant, userId, hash, session } = prepared;
  const { address, name, locale, type } = applicant;
  const now = services.clock.now();
  await lockAddress(ctx, address);
  const lapsed = tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.emailVerified, false), lte(users.verificationDeadline, now)));
  await tx
    .update(authenticationMethods)
    .set({ claims: false })
    .where(
      and(
        eq(authenticationMethods.provider, 'email'),
        eq(authenticationMethods.providerId, address),
        eq(authenticationMethods.claims, true),
        eq(authenticationMethods.isVerified, false),
        inArray(authenticationMethods.userId, lapsed),
      ),
    );
  const verificationDeadline = new Date(
    now.getTime() + services.config.auth.verificationGraceDays * 86_400_000,
  );
  const [user] = await tx
    .insert(users)
    .values({ id: userId, name, email: address, locale, verificationDeadline })
    .returning();
  // The unique index decides a race: the loser writes nothing.
  const [method] = await tx
    .insert(authenticationMethods)
    .values({
      id: services.ids.next(),
      userId,
      provider: 'email',
      providerId: address,
      label: address,
      isPrimary: true,
      claims: true,
      lastUsedAt: session ? now : null,
    })
    .onConflictDoNothing()
    .returning({ id: authenticationMethods.id });
  if (!method) {
    if (session) throw taken();
    await tx.delete(users).where(eq(users.id, userId));
    await tellOwner(ctx, prepared);
    return null;
  }
  await tx.insert(passwords).values({ userId, hash });
  await createAccount(ctx, userId, type);
  ctx.record({
    actor: userAsActor(user as UserRow),
    event: 'user.created',
    data: userData(user as UserRow),
    target: { type: 'User', id: userId },
    node: await nodeOfUser(tx, userId),
  });
  if (prepared.mayMail) await sendVerification(ctx, user as UserRow, address);
  return session ? openSession(ctx, session, user as UserRow) : null;
}

async function tellOwner(
  ctx: Run,
  { applicant: { address }, mayMail: allowed }: PreparedRegistration,
): Promise<void> {
  const { tx, services, call } = ctx;
  const claim = await claimOf(tx, address);
  if (!claim || !allowed) return ctx.unchanged();
  await services.mail.queue(tx, addressTakenMail(address, claim.user.locale ?? call.language));
  flushMails(ctx);
  ctx.record({ target: { type: 'User', id: claim.user.id }, node: await nodeOfUser(tx, claim.user.id) });
}
