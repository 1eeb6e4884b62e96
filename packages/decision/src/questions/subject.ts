import { commonScopes } from '../app-scopes.ts';
import type { Holder, Policy } from '../policy/policy.ts';

/**
 * The subject whose rights decide a question: a user, an API key (identified by the `jti` of its tokens), or an app
 * that acts for a user. For an app, `scopes` are the scopes of its token; null or absent if the token has none.
 */
export type Subject = UserSubject | KeySubject | AppSubject;

export interface UserSubject {
  readonly userId: string;
  readonly apiKeyId?: undefined;
  readonly clientId?: undefined;
  readonly scopes?: undefined;
}

export interface KeySubject {
  readonly apiKeyId: string;
  readonly userId?: undefined;
  readonly clientId?: undefined;
  readonly scopes?: undefined;
}

export interface AppSubject {
  readonly userId: string;
  readonly clientId: string;
  readonly scopes?: readonly string[] | null | undefined;
  readonly apiKeyId?: undefined;
}

/**
 * Whether the policy is enough to decide about the subject as the service would. False for a user whom the policy's
 * filter leaves out, and for a key with the rights of such a user.
 *
 * @example covers(policy, { userId }) ? decide(policy, question) : await askService(question)
 */
export function covers(policy: Policy, subject: Subject): boolean {
  const { userId, apiKeyId } = subject;
  if (apiKeyId === undefined) return listsUser(policy, userId);
  const key = policy.keys.get(apiKeyId);
  return key?.ofUser !== true || listsUser(policy, key.userId);
}

const listsUser = ({ userFilter }: Policy, userId: string): boolean =>
  typeof userFilter === 'string' ? userFilter === 'all' : userFilter.has(userId);

/**
 * The rights of the subject at `now`; undefined if the subject is not active. Never throws, whatever a question
 * contains.
 */
export function holderOf(policy: Policy, subject: unknown, now: unknown): Holder | undefined {
  if (typeof subject !== 'object' || subject === null) return undefined;
  const { userId, apiKeyId, clientId, scopes } = subject as Partial<Record<string, unknown>>;
  if (apiKeyId !== undefined) {
    // A subject that is both a key and a user or app is a mistake of the caller, so it has no rights.
    if (userId !== undefined || clientId !== undefined) return undefined;
    return holderOfKey(policy, apiKeyId, now);
  }
  if (clientId === undefined ? scopes !== undefined : !policy.apps.has(clientId as string)) return undefined;
  return policy.users.get(userId as string);
}

function holderOfKey(policy: Policy, apiKeyId: unknown, now: unknown): Holder | undefined {
  const key = policy.keys.get(apiKeyId as string);
  if (!key || !isBefore(now, key.expiresAt)) return undefined;
  return key.holder ?? policy.users.get(key.userId);
}

/** Whether `end` is still ahead. True if there is no end; otherwise false if `now` is not a number. */
const isBefore = (now: unknown, end: number | null): boolean =>
  end === null || (typeof now === 'number' && now < end);

/** How far an app may use its user's rights: the scopes of its token, as the service would apply them now. */
export interface Consent {
  readonly consented?: ReadonlySet<string>;
  readonly projectPlaneOnly?: boolean;
}

const everything: Consent = {};
const projectPlane: Consent = { projectPlaneOnly: true };

/** The consent of a subject. Call it only if `holderOf` has returned rights for the subject. */
export function consentOf(policy: Policy, subject: Subject): Consent {
  if (subject.clientId === undefined) return everything;
  const consented = consentedBy(subject)?.filter((scope) => typeof scope === 'string') ?? null;
  const common = commonScopes(scopesOf(policy, subject), consented);
  return common ? { consented: new Set(common) } : projectPlane;
}

/**
 * Whether the scopes need no further check. True for a subject without an app. For an app, true if the token lists the
 * resource and action exactly as the question spells them, and the app's own scopes do not exclude them. Saves building
 * a set of scopes for most questions.
 */
export function isCertainlyConsented(policy: Policy, subject: Subject, { resource, action }: Pair): boolean {
  if (subject.clientId === undefined) return true;
  const name = `${resource}:${action}`;
  return consentedBy(subject)?.includes(name) === true && scopesOf(policy, subject)?.includes(name) !== false;
}

interface Pair {
  readonly resource: string;
  readonly action: string;
}

const scopesOf = ({ apps }: Policy, { clientId }: AppSubject): readonly string[] | null =>
  apps.get(clientId)?.scopes ?? null;

/**
 * The scopes of the token; null if it has none. A value that is not a list counts as an empty list, because null would
 * allow more.
 */
function consentedBy({ scopes }: AppSubject): readonly string[] | null {
  if (scopes === undefined || scopes === null) return null;
  return Array.isArray(scopes) ? (scopes as readonly string[]) : [];
}
