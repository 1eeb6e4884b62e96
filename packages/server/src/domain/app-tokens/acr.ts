/** How many factors the user gave (openid §2), from the methods of a sign-in. */
export const acrOf = (amr: readonly string[]): 'aal1' | 'aal2' =>
  amr.some((method) => method === 'otp' || method === 'rc') ? 'aal2' : 'aal1';
