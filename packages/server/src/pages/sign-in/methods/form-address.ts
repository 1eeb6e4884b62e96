import { inFlow } from '../../../http/cookies/flow-cookies.ts';

/* The addresses of the forms of the first page. */

const signInPath = '/api/auth/project/sign-in';
export const scriptPath = `${signInPath}.js`;
const forms = { address: 'address', 'sign-up': 'signUp', reset: 'reset' } as const;
export type Form = (typeof forms)[keyof typeof forms] | 'signIn';

/** Returns the address of a form of the first page, for the sign-in that the form token belongs to. */
export const formAddress = (form: keyof typeof forms, formToken: string): string =>
  inFlow(`${signInPath}?form=${form}`, formToken);

/** Returns the form that the address names. */
export function formOf(query: unknown): Form | undefined {
  const { form } = query as { readonly form?: unknown };
  return typeof form === 'string' && Object.hasOwn(forms, form)
    ? forms[form as keyof typeof forms]
    : undefined;
}
