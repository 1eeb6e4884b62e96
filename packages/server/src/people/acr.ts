/** Methods that are or complete two factors. `mfa`: a passkey that verified the user or came second, or two factors at a trusted provider. */
const completing: readonly string[] = ['otp', 'rc', 'mfa'];

/** How many factors the user gave (openid §2), from the methods of a sign-in. */
export const acrOf = (amr: readonly string[]): 'aal1' | 'aal2' =>
  amr.some((method) => completing.includes(method)) ? 'aal2' : 'aal1';
