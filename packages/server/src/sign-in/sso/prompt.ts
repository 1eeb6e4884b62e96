/** How an authorization request wants the user to sign in (OpenID Connect Core §3.1.2.1). */
export interface Prompt {
  /** Whether no page may appear (`prompt=none`). */
  readonly isSilent: boolean;
  /** Whether the user must sign in again, although they are signed in already. */
  readonly asksSignIn: boolean;
  /** How long ago the user may have signed in, in seconds; null for any time. */
  readonly maxAgeSeconds: number | null;
}

export const promptValues = ['none', 'login', 'consent', 'select_account'];

export const promptValuesOf = (sent: string | undefined): string[] => (sent ?? '').split(' ').filter(Boolean);

/** Reads the parameters. `select_account` means a new sign-in here, because a browser has one user per issuer. */
export function parsePrompt(sent: {
  readonly prompt?: string | undefined;
  readonly max_age?: string | undefined;
}): Prompt {
  const values = promptValuesOf(sent.prompt);
  return {
    isSilent: values.includes('none'),
    asksSignIn: values.includes('login') || values.includes('select_account'),
    maxAgeSeconds: sent.max_age ? Number(sent.max_age) : null,
  };
}
