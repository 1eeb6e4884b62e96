/**
 * Which passwords are refused, and why (identity §2): by length, by a list of 49,000 common ones, and by what an
 * attacker knows about the user. No rules of composition: they make passwords worse, not better (NIST SP 800-63B).
 */
import type { DetailCode } from '../errors.ts';

/** What the password must not contain. */
export interface PasswordIdentity {
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
}

export interface PasswordPolicy {
  /** In code points, after NFKC. */
  readonly minLength: number;
  readonly identity: PasswordIdentity;
}

const maxLength = 128;
const productName = 'doorward';
/** A shorter name or local part is no hint, and would refuse too much. */
const minHint = 4;

/** Every reason to refuse the password, empty when there is none. Lengths are code points after NFKC. */
export async function passwordProblems(
  password: string,
  { minLength, identity }: PasswordPolicy,
): Promise<DetailCode[]> {
  const normal = password.normalize('NFKC');
  const length = [...normal].length;
  const plain = normal.toLowerCase();
  const problems: DetailCode[] = [];
  if (length < minLength) problems.push('too_short');
  if (length > maxLength) problems.push('too_long');
  // C libraries end a string at NUL; no hash of ours may ever depend on what stands before it.
  if (normal.includes('\0')) problems.push('not_allowed');
  if ((await commonPasswords()).includes(plain)) problems.push('password_too_common');
  if (hints(identity).some((hint) => plain.includes(hint))) problems.push('password_contains_identity');
  return problems;
}

function hints({ email, name }: PasswordIdentity): string[] {
  const fold = (text: string | null | undefined) => (text ?? '').normalize('NFKC').toLowerCase().trim();
  const address = fold(email);
  const whole = fold(name);
  const guesses = [
    address.slice(0, Math.max(address.lastIndexOf('@'), 0)),
    whole,
    whole.replaceAll(/\s/g, ''),
  ];
  return [
    productName,
    ...(address === '' ? [] : [address]),
    ...guesses.filter((guess) => [...guess].length >= minHint),
  ];
}

/** The list, lower case; loaded at the first question, because most processes of a test never ask. */
async function commonPasswords(): Promise<readonly string[]> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  // Read from end to end: half a millisecond beside a hash of twenty, where a set took as much memory again.
  return dictionary['passwords-common'];
}
