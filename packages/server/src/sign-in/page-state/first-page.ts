import type { Config } from '../../config/config.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import type { SignInForm, SignInStep } from '../flow/flow-data.ts';
import { allowsSignUp } from '../mailed-codes/request-code.ts';

/** What the first page knows: the form that was sent last, and what was wrong with it. */
export interface FirstPage {
  readonly form: SignInForm | null;
  readonly address: string | null;
  readonly entered: NonNullable<SignInStep['entered']>;
  readonly mailedTo: string | null;
  /** The mailed code connects an account at the provider to the address. */
  readonly connects: boolean;
  /** The connection of an organization to which the domain of the address leads. */
  readonly connection: { readonly id: string; readonly name: string; readonly enforced: boolean } | null;
  /** An address may lead to a connection, so the page asks for it before it mails a code. */
  readonly hasConnections: boolean;
  readonly problems: NonNullable<SignInStep['problems']>;
  readonly allowsSignUp: boolean;
  readonly passwordMinLength: number;
}

export function firstPageOf(
  { auth }: Config,
  app: LiveApp,
  step: SignInStep | undefined,
  hasConnections: boolean,
): FirstPage {
  return {
    form: step?.form ?? null,
    address: step?.address ?? null,
    entered: step?.entered ?? {},
    mailedTo: step?.mailedTo ?? null,
    connects: step?.mail?.purpose.name === 'connection',
    connection: step?.connection ?? null,
    hasConnections,
    problems: step?.problems ?? [],
    allowsSignUp: allowsSignUp(app),
    passwordMinLength: auth.passwordMinLength,
  };
}
