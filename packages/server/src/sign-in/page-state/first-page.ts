import type { Config } from '../../config/config.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import type { SignInForm, SignInStep } from '../flow/flow-data.ts';
import { allowsSignUp } from '../mailed-codes/request-code.ts';

/** The data of the first page: the form that was sent last, and its errors. */
export interface FirstPage {
  readonly form: SignInForm | null;
  readonly address: string | null;
  readonly entered: NonNullable<SignInStep['entered']>;
  readonly mailedTo: string | null;
  /** Whether the mailed code connects an account at the provider to the address. */
  readonly connects: boolean;
  /** The organization's connection for the domain of the address. */
  readonly connection: { readonly id: string; readonly name: string; readonly enforced: boolean } | null;
  /** Whether the app has connections, so that the page asks for the address before it mails a code. */
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
