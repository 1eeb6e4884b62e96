/**
 * Methods that complete two factors. `mfa`: a passkey that verified its user or was the second method, or two factors
 * at a trusted provider.
 */
const completing: readonly string[] = ['otp', 'rc', 'mfa'];

/** The assurance level of a sign-in, from its methods (openid §2). */
export const acrOf = (amr: readonly string[]): 'aal1' | 'aal2' =>
  amr.some((method) => completing.includes(method)) ? 'aal2' : 'aal1';
