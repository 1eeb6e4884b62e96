import { text } from '../kernel/input/values.ts';

/** An external service that signs people in and identifies them to this service (identity §8). */
export interface IdentityProvider {
  /** `github`, or the key of an OpenID Connect provider. */
  readonly key: string;
  readonly name: string;
  /** If false, only existing users can sign in through it. */
  readonly allowSignUp: boolean;
  /** Loads the metadata, so that `signInPage` does not wait for the network. @throws ProviderFault */
  reach(): Promise<void>;
  /** Returns the URL at which the person signs in. @throws ProviderFault */
  signInPage(state: string, verifier: string): Promise<string>;
  /**
   * Identifies the person by the response that the browser brought back. `state`: the value that the response must
   * contain.
   *
   * @throws ProviderFault
   */
  identify(
    answer: ProviderAnswer,
    flow: { readonly state: string; readonly verifier: string },
  ): Promise<Identity>;
}

/** The parameters of the callback URL. */
export interface ProviderAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  readonly iss?: string | undefined;
}

/**
 * An account at a provider. Only issuer and id identify the user, because login names and addresses can be taken over.
 */
export interface Identity {
  readonly id: string;
  /** The address that the provider vouches for, in canonical form; null if none. */
  readonly address: string | null;
  /** An address that the provider names without proof. */
  readonly unprovedAddress?: string | null;
  readonly name: string | null;
  /** The login name, for pages that ask about the account. */
  readonly login: string | null;
  /** Absent for GitHub. */
  readonly oidc?: { readonly key: string; readonly issuer: string };
  /** The organization's connection through which the person came; absent for a provider of the installation. */
  readonly connection?: { readonly id: string; readonly name: string; readonly organizationId: string };
  /** Set if the person has proved the address by a mailed code, because the provider did not vouch for it. */
  readonly isProvedByMail?: true;
  /** The authentication methods that the provider reports (`amr`). */
  readonly methods?: readonly string[];
}

/** Returns the columns with which the account is stored as a sign-in method. */
export const methodOfIdentity = ({ id, oidc, connection }: Identity) =>
  ({
    provider: oidc ? 'oidc' : 'github',
    providerKey: oidc?.key ?? null,
    // A subject is unique only within its issuer. An account through a connection differs from the same account
    // elsewhere, because the organization decides what its provider calls a subject.
    providerId: [...(connection ? [connection.id] : []), ...(oidc ? [oidc.issuer] : []), id].join(' '),
  }) as const;

/** Returns the key of the identity's provider. */
export const providerKeyOf = ({ oidc }: Identity): string => oidc?.key ?? 'github';

/** A flow through GitHub does not name its provider, because the previous version reads it and knows only GitHub. */
export const keyInFlow = (key: string): { readonly providerKey?: string } =>
  key === 'github' ? {} : { providerKey: key };

export const keyOfFlow = ({ providerKey = 'github' }: { readonly providerKey?: string }): string =>
  providerKey;

/** Maximum size of a response, far above the size that providers send. */
const MAX_BYTES = 262_144;

/** Reads a response to its end. @throws Error if it is too long */
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

/** A failure of a provider. Contains the step and its error code, for the log, but never a token or the response. */
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

/** Time limit of one call. Providers usually respond in well under a second. */
export const TIMEOUT_SECONDS = 8;

/** Returns the name that the provider sent, or null if it is not usable. */
export const shownName = (sent: unknown): string | null => text(1, 255).safeParse(sent).data ?? null;
