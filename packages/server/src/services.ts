import type { Resolver } from './access/resolve.ts';
import type { Credentials } from './access/credentials/credentials.ts';
import type { ApiKeyCache } from './access/credentials/api-key-cache.ts';
import type { BuiltIns } from './access/built-in.ts';
import type { Config } from './config/config.ts';
import type { Revisions } from './db/cache/revisions.ts';
import type { Cursors } from './db/query/cursor.ts';
import type { Gauge } from './db/connection/gauges.ts';
import type { Kek } from './crypto/keys/kek.ts';
import type { Keyring } from './crypto/keys/keyring.ts';
import type { Passwords } from './crypto/passwords/passwords.ts';
import type { KeyPairStock } from './crypto/keys/rsa.ts';
import type { MailOutbox } from './events/mail/mail-outbox.ts';
import type { Context as KernelContext, QueueState } from './kernel/context.ts';
import type { AnyEntity } from './kernel/entity.ts';
import type { RateClass, Shape } from './kernel/operation.ts';
import type { Clock, Delay, DnsResolver, Ids } from './kernel/ports.ts';
import type { IdentityProviders } from './providers/providers.ts';
import type { PolicySnapshots } from './access/policy-snapshots.ts';

interface Readiness {
  /** False from the moment of a stop signal. */
  readonly serving: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failing'>>;
}

/** The state of the process, for operators. */
interface ProcessState {
  readonly version: string;
  readonly startedAt: Date;
  /** Protections that could not be set up at the start. */
  readonly warnings: readonly string[];
  readonly queues: () => readonly QueueState[];
}

/**
 * The services available to every operation, besides its database access, which is limited to its scope. They are
 * created once, in app.ts.
 */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  /** Delays responses, so that their timing does not reveal the work behind them. */
  readonly delay: Delay;
  readonly ids: Ids;
  readonly dns: DnsResolver;
  readonly kek: Kek;
  /** Cursors for lists of the caller's own rows. Lists of a scope have cursors of their own. */
  readonly cursors: Cursors;
  /** For responses that contain the revision of the state that they show. */
  readonly revisions: Pick<Revisions, 'seal'>;
  readonly keyring: Keyring;
  readonly knownKeys: ApiKeyCache;
  /** Looks up whether a session or key is still valid, for tokens other than the one of the call. */
  readonly credentials: Credentials;
  readonly keyPairs: Pick<KeyPairStock, 'take'>;
  readonly passwords: Passwords;
  readonly resolver: Resolver;
  readonly builtIns: BuiltIns;
  readonly mail: MailOutbox;
  readonly identityProviders: IdentityProviders;
  /**
   * Resolves if webhooks may be sent to the URL.
   * @throws WEBHOOK_URL_NOT_ALLOWED
   */
  readonly assertUrlAllowed: (url: string, path?: string) => Promise<void>;
  /**
   * Wakes the delivery workers of this process because a delivery is due. Without this call they only find it later.
   */
  readonly webhooksDue: () => void;
  /** Permanently deletes rows that must not wait for the next purge. Never rejects; the next purge deletes the rest. */
  readonly purgeUrgent: () => Promise<void>;
  /**
   * For limits that an operation cannot declare: those that count only failures, and those that must not change the
   * answer when they are exceeded.
   */
  readonly limiter: { consume(cls: RateClass, key: string, points?: number): unknown };
  readonly policySnapshots: PolicySnapshots;
  /** Logs a failure of another system, for the operator. */
  readonly warn: (error: unknown, message: string) => void;
  /** The state of the process, for operators of the installation. */
  readonly process: ProcessState;
  /** Numbers about the work that waits in the database, and about its connections. */
  readonly gauges: () => Promise<readonly Gauge[]>;
  /** Returns the results of the checks of database, schema, key and change channel, for the readiness response. */
  readonly readiness: () => Promise<Readiness>;
}

/** The argument of an operation's functions. */
export type Context<
  I extends Shape = Shape,
  P = unknown,
  T extends AnyEntity | undefined = AnyEntity | undefined,
> = KernelContext<Services, I, P, T>;

/** The part of a mutation's context that functions shared by several operations need. */
export type Run = Pick<
  Context,
  'tx' | 'services' | 'call' | 'record' | 'invalidate' | 'unchanged' | 'setCookies' | 'afterCommit'
>;
