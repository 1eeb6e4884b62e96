import type { FastifyInstance } from 'fastify';
import type { Config } from './config/config.ts';
import type { Kek } from './crypto/keys/kek.ts';
import type { KeyPairStock } from './crypto/keys/rsa.ts';
import type { PasswordCost } from './crypto/passwords/passwords.ts';
import type { ResealCounts } from './crypto/keys/reseal.ts';
import type { Database } from './db/connection/open.ts';
import type { PurgeCounts } from './db/purge/purge.ts';
import type { WebhookPorts } from './webhooks/delivery/delivery.ts';
import type { ExampleIds } from './kernel/output/example-ids.ts';
import type { QueueState } from './kernel/context.ts';
import type { Clock, Delay, DnsResolver, Ids, Mailer } from './kernel/ports.ts';
import type { Log } from './runtime/log.ts';

/** The input of `createApp`. */
export interface AppOptions {
  readonly config: Config;
  readonly database: Database;
  /** Folder of the migrations; null if the database is already migrated. */
  readonly migrations: string | null;
  /** Folders of the built console and documentation; absent if they were not built. */
  readonly consoleFolder?: string;
  readonly docsFolder?: string;
  readonly version: string;
  readonly log: Log;
  readonly mailer: Mailer;
  readonly clock?: Clock;
  readonly delay?: Delay;
  readonly ids?: Ids;
  readonly dns?: DnsResolver;
  readonly keyPairs?: KeyPairStock;
  readonly passwordCost?: PasswordCost;
  readonly webhooks?: WebhookPorts;
  /** Set in a worker process (`src/runtime/worker-link.ts`). */
  readonly worker?: Worker;
}

interface Worker {
  /** Counted from 1. */
  readonly number: number;
  /**
   * Registers `own`, which returns a value of this process, for the other workers. Returns a function that collects the
   * values of all workers.
   */
  readonly gather: <T>(own: () => Promise<T>) => () => Promise<readonly T[]>;
}

/** A running service, for the code that makes it listen, stops it, or tests it. */
export interface App {
  readonly server: FastifyInstance;
  /** The queues in front of scarce resources (src/http/admission). */
  readonly queues: readonly QueueState[];
  readonly kek: Kek;
  /** Sets the ids in the examples of the OpenAPI document, so that the examples can be sent unchanged. */
  readonly setExampleIds: (ids: ExampleIds) => void;
  /**
   * Replaces the token of this process that may create the first user; null if there is already a user. `issuer`
   * identifies the process, also after a restart.
   */
  readonly issueFirstUserToken: (issuer: string) => Promise<string | null>;
  /** Relays events and sends queued mails now, as the job does. */
  readonly flushMails: () => Promise<void>;
  /** Relays events and delivers due webhooks now, as the job does. */
  readonly flushWebhooks: () => Promise<void>;
  /** Purges deleted rows whose retention has ended, as the job does. */
  readonly purge: () => Promise<PurgeCounts>;
  /** Rotates the key of session tokens if that is due, as the job does. Returns whether it did. */
  readonly rotateSystemKey: () => Promise<boolean>;
  /** Signs the audit logs that are due, as the job does. Returns their number. */
  readonly signAuditLogs: () => Promise<number>;
  /** Deletes audit entries whose retention has ended, as the job does. Returns their number. */
  readonly cutAuditLogs: () => Promise<number>;
  /** Records configured operators who were added or removed, and appoints the prepared ones, as the job does. */
  readonly recordOperators: () => Promise<void>;
  /** Carries out the resets of second factors that are due, as the job does. */
  readonly resetFactors: () => Promise<void>;
  /** Warns about API keys that expire soon, as the job does. Returns the number of warnings. */
  readonly warnOfExpiry: () => Promise<number>;
  /** Checks the domains that are due, as the job does. Returns how many lapsed or were verified again. */
  readonly recheckDomains: () => Promise<number>;
  /** Deletes self-registered apps that are not used, as the job does. Returns their number. */
  readonly deleteUnusedApps: () => Promise<number>;
  /** Encrypts values with the current key that are still encrypted with an old one, as the job does. */
  readonly reseal: () => Promise<ResealCounts>;
  readonly close: () => Promise<void>;
}
