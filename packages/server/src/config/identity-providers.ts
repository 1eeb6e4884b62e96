import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isIssuer } from '../kernel/input/issuer.ts';
import { InvalidValue, type Parse } from './values.ts';

/* OpenID Connect providers of the installation (docs/operating/identity-providers.md), as a JSON array. */

/** Keys that already have a meaning in `enabledProviders`, in `provider` or in URLs. */
const reserved = ['email', 'password', 'passkey', 'github', 'oidc', 'connect'];

const words = z.string().min(1).max(255);

const issuer = z
  .string()
  .max(2048)
  .refine(isIssuer, { message: 'must be an https URL without query and fragment' });

const claim = (standard: string) => words.default(standard);

const IdentityProvider = z.strictObject({
  key: z
    .string()
    .regex(/^[a-z][a-z0-9-]{1,30}$/, {
      message: 'must be 2 to 31 lower-case letters, digits and hyphens, with a letter first',
    })
    .refine((key) => !reserved.includes(key), { message: `must not be one of ${reserved.join(', ')}` }),
  name: z.string().trim().min(1).max(64),
  logoUrl: issuer.optional(),
  issuer,
  clientId: words,
  clientSecret: z.string().min(1).max(1024).optional(),
  clientSecretFile: z.string().min(1).max(4096).optional(),
  scopes: z
    .array(z.string().regex(/^[!#-[\]-~]{1,255}$/, { message: 'must be a scope of OAuth 2.0' }))
    .min(1)
    .max(20)
    .default(['openid', 'email', 'profile'])
    .refine((scopes) => scopes.includes('openid'), { message: 'must contain openid' }),
  claims: z
    .strictObject({
      subject: claim('sub'),
      email: claim('email'),
      emailVerified: claim('email_verified'),
      name: claim('name'),
    })
    .prefault({}),
  trustEmail: z.enum(['verified', 'always', 'never']).default('verified'),
  allowSignUp: z.boolean().default(true),
});

type Parsed = z.output<typeof IdentityProvider>;

export interface IdentityProviderConfig extends Readonly<
  Omit<Parsed, 'clientSecret' | 'clientSecretFile' | 'scopes' | 'claims'>
> {
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly claims: Readonly<Parsed['claims']>;
}

const MAX_PROVIDERS = 20;

/**
 * Parses the list of providers.
 * @throws InvalidValue, whose message names the entry and its member, but contains no value
 */
export const identityProviders: Parse<readonly IdentityProviderConfig[]> = (given) => {
  const list = z.array(z.unknown()).max(MAX_PROVIDERS).safeParse(parseJson(given));
  if (!list.success) throw new InvalidValue(`must be a JSON array of at most ${MAX_PROVIDERS} objects`);
  const providers = list.data.map(providerOf);
  for (const name of ['key', 'issuer'] as const) {
    const values = providers.map((provider) => provider[name]);
    const twice = values.findIndex((value, index) => values.indexOf(value) !== index);
    if (twice >= 0) throw new InvalidValue(`[${twice}].${name} is that of another entry`);
  }
  return providers;
};

/** Parses the list of providers in the file with this path. @throws InvalidValue */
export const identityProvidersFile: Parse<readonly IdentityProviderConfig[]> = (path) =>
  identityProviders(contentOf(path));

function providerOf(entry: unknown, index: number): IdentityProviderConfig {
  const parsed = IdentityProvider.safeParse(entry);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = [`[${index}]`, ...(issue?.path ?? []).map(String)].join('.');
    throw new InvalidValue(`${path}: ${issue?.message ?? 'is invalid'}`);
  }
  const { clientSecret: secret, clientSecretFile: file, ...provider } = parsed.data;
  if ((secret === undefined) === (file === undefined)) {
    throw new InvalidValue(`[${index}] must have either clientSecret or clientSecretFile`);
  }
  const clientSecret = secret ?? contentOf(file ?? '');
  if (clientSecret === '') throw new InvalidValue(`[${index}].clientSecretFile is empty`);
  return { ...provider, clientSecret };
}

function parseJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new InvalidValue('must be a JSON array');
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new InvalidValue(
      `names a file that cannot be read (${String((error as { code?: unknown }).code)})`,
    );
  }
}
