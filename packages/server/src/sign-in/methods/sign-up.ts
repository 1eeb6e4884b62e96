import { DoorwardError, fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { assertPassword } from '../passwords/new-password.ts';
import { canonicalAddress } from '../../sessions/password-sign-in.ts';
import type { NewUser, SignInStep } from '../flow/flow-data.ts';
import { appOf, assertOwnPage, flowAt } from '../steps/steps.ts';
import { notOffered } from '../mailed-codes/not-offered.ts';
import { allowsSignUp, requestSignUpCode, storeForm } from '../mailed-codes/request-code.ts';

/*
 * Sign-up for an app. Name and password are kept in the flow, because nothing is created before the address is proved.
 */

interface SignUp {
  readonly email: string;
  readonly name: string;
  readonly password?: string | undefined;
  readonly locale?: NewUser['locale'] | undefined;
  readonly form_token?: string | undefined;
}

type PreparedSignUp = NewUser | DoorwardError;

/**
 * Checks and hashes the password, outside the transaction. Returns the refusal of a weak password, so that the page can
 * show it.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED, PROVIDER_NOT_CONFIGURED
 */
export async function prepareSignUp(
  db: Executor,
  services: Services,
  call: Call,
  { email, name, password, locale = null, form_token }: SignUp,
): Promise<PreparedSignUp> {
  assertOwnPage(call);
  const flow = await flowAt(db, services, call, 'signIn', form_token);
  const app = await appOf(db, flow.asked);
  if (!allowsSignUp(app)) throw notOffered();
  if (!app.enabledProviders.includes('password')) {
    if (password !== undefined) throw notOffered();
    return { name, locale, passwordHash: null };
  }
  if (password === undefined) {
    if (app.enabledProviders.includes('email')) return { name, locale, passwordHash: null };
    return fail('VALIDATION_ERROR', { details: [{ path: 'password', code: 'required' }] });
  }
  const problem = await weaknessOf(services, password, { addresses: [canonicalAddress(email)], name });
  return problem ?? { name, locale, passwordHash: await services.passwords.hash(password) };
}

/** Why the password is refused; undefined if it is accepted. */
export async function weaknessOf(
  services: Services,
  password: string,
  owner: Parameters<typeof assertPassword>[2],
  path = 'password',
): Promise<DoorwardError | undefined> {
  try {
    await assertPassword(services, password, owner, path);
    return undefined;
  } catch (error) {
    if (error instanceof DoorwardError) return error;
    throw error;
  }
}

/** Mails a code to the address. @throws INVALID_TOKEN */
export async function signUp(
  ctx: Run,
  prepared: PreparedSignUp,
  { email, name, form_token }: SignUp,
): Promise<{ readonly accepted: true } | Refusal> {
  if (!(prepared instanceof DoorwardError)) return requestSignUpCode(ctx, { email, form_token }, prepared);
  const flow = await flowAt(ctx.tx, ctx.services, ctx.call, 'signIn', form_token);
  ctx.unchanged();
  const problems = problemsOf(prepared);
  await storeForm(ctx, flow, { form: 'signUp', entered: { email, name }, problems });
  return refuse(prepared);
}

/** The refused fields of an error, as a page shows them. */
export const problemsOf = ({ extras }: DoorwardError): NonNullable<SignInStep['problems']> =>
  (extras.details ?? []).map(({ path, code }) => ({ path, code }));
