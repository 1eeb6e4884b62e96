import { text } from '../kernel/input/values.ts';

/** A site where people sign in, and which tells this service who they are (identity §8). */
export interface IdentityProvider {
  /** `github`, or the key of an OpenID Connect provider. */
  readonly key: string;
  readonly name: string;
  /** false: only users who exist already sign in through it. */
  readonly allowSignUp: boolean;
  /** Loads the metadata, so that `signInPage` does not wait for the network. @throws ProviderFault */
  reach(): Promise<void>;
  /** The URL at which the person signs in. @throws ProviderFault */
  signInPage(state: string, verifier: string): Promise<string>;
  /**
   * Reads who the person is from the answer that came back with the browser. `state`: what the answer must contain.
   * @throws ProviderFault
   */
  identify(
    answer: ProviderAnswer,
    flow: { readonly state: string; readonly verifier: string },
  ): Promise<Identity>;
}

/** The parameters of the callback. */
export interface ProviderAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  readonly iss?: string | undefined;
}

/** An account at a provider. Only issuer and id identify the user: login names and addresses can be taken over. */
export interface Identity {
  readonly id: string;
  /** The address for which the provider vouches, canonical; null: none. */
  readonly address: string | null;
  /** An address that the provider names without proof. */
  readonly unprovedAddress?: string | null;
  readonly name: string | null;
  /** The login name, for pages that ask about the account. */
  readonly login: string | null;
  /** Absent: GitHub. */
  readonly oidc?: { readonly key: string; readonly issuer: string };
  /** The connection of an organization through which the person came; absent: a provider of the installation. */
  readonly connection?: { readonly id: string; readonly name: string; readonly organizationId: string };
  /** The person has proved the address by a mailed code, besides what the provider says. */
  readonly isProvedByMail?: true;
  /** What the provider says of how they signed in there (`amr`). */
  readonly methods?: readonly string[];
}

/** How the account is stored as a sign-in method. */
export const methodOfIdentity = ({ id, oidc, connection }: Identity) =>
  ({
    provider: oidc ? 'oidc' : 'github',
    providerKey: oidc?.key ?? null,
    // A subject is unique within its issuer only. An account through a connection is another one than the same account elsewhere:
    // the organization has chosen what its provider calls a subject.
    providerId: [...(connection ? [connection.id] : []), ...(oidc ? [oidc.issuer] : []), id].join(' '),
  }) as const;

/** The key of its provider. */
export const providerKeyOf = ({ oidc }: Identity): string => oidc?.key ?? 'github';

/** A flow of GitHub names no provider, because the version before knew no other, and reads such flows. */
export const keyInFlow = (key: string): { readonly providerKey?: string } =>
  key === 'github' ? {} : { providerKey: key };

export const keyOfFlow = ({ providerKey = 'github' }: { readonly providerKey?: string }): string =>
  providerKey;

/** Limit for an answer, far above what providers send. */
const MAX_BYTES = 262_144;

/** @throws Error when the answer is too long */
export async function readLimited(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Names the failed step and its error code, for the log: neither a token nor any part of the answer. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  readonly code: string | undefined;

  constructor(provider: string, step: string, error?: unknown) {
    super(`${provider}: ${step}`);
    const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
    this.code = typeof code === 'string' ? code : typeof name === 'string' ? name : undefined;
  }
}

export async function withProviderFault<T>(
  provider: string,
  step: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ProviderFault ? error : new ProviderFault(provider, step, error);
  }
}

/** Limit for one call; providers usually answer in well under a second. */
export const TIMEOUT_SECONDS = 8;

/** A name for people, if the provider sent a usable one. */
export const shownName = (sent: unknown): string | null => text(1, 255).safeParse(sent).data ?? null;
