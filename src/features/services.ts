import type { Resolver } from '../access/resolve.ts';
import type { KnownKeys } from '../access/known-keys.ts';
import type { BuiltIns } from '../access/built-in.ts';
import type { Config } from '../config.ts';
import type { Cursors } from '../db/cursor.ts';
import type { Kek } from '../crypto/kek.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Passwords } from '../crypto/passwords.ts';
import type { KeyPairStock } from '../crypto/rsa.ts';
import type { MailOutbox } from '../events/mail-outbox.ts';
import type { RateClass } from '../kernel/operation.ts';
import type { Clock, Ids } from '../kernel/ports.ts';

interface Readiness {
  /** False from the moment of a stop signal. */
  readonly serving: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failing'>>;
}

/** What runs may use beside their scope-bound database. Wired once, in app.ts. */
declare module '../kernel/context.ts' {
  interface Services {
    readonly config: Config;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly kek: Kek;
    /** For lists of the caller's own rows; a scope's lists come with it. */
    readonly cursors: Cursors;
    readonly keyring: Keyring;
    readonly knownKeys: KnownKeys;
    readonly keyPairs: Pick<KeyPairStock, 'take'>;
    readonly passwords: Passwords;
    readonly resolver: Resolver;
    readonly builtIns: BuiltIns;
    readonly mail: MailOutbox;
    /** Resolves for an address that a webhook may call. @throws WEBHOOK_URL_NOT_ALLOWED */
    readonly assertUrlAllowed: (url: string) => Promise<void>;
    /** Something is due to be delivered now: whoever delivers looks at once. Nothing is lost without it. */
    readonly webhooksDue: () => void;
    /** Removes for good what is to be purged from now on. Never rejects; what is left, the next purge takes. */
    readonly purgeUrgent: () => Promise<void>;
    /** For limits that cannot be declared: of failures only, or such that answer as if nothing were refused. */
    readonly limiter: { consume(cls: RateClass, key: string, points?: number): unknown };
    /** For the operator: what failed without being anybody's fault here. */
    readonly warn: (error: unknown, message: string) => void;
    /** Database, schema, key and change channel, for the readiness answer. */
    readonly readiness: () => Promise<Readiness>;
  }
}
