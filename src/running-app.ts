import type { FastifyInstance } from 'fastify';
import type { Config } from './config.ts';
import type { Kek } from './crypto/kek.ts';
import type { KeyPairStock } from './crypto/rsa.ts';
import type { ResealCounts } from './crypto/reseal.ts';
import type { Database } from './db/open.ts';
import type { PurgeCounts } from './db/purge.ts';
import type { WebhookPorts } from './features/webhook-delivery/delivery.ts';
import type { ExampleIds } from './kernel/example-ids.ts';
import type { QueueState } from './kernel/context.ts';
import type { Clock, Ids, Mailer } from './kernel/ports.ts';
import type { Log } from './log.ts';

/** What `createApp` takes, and what it gives back to whoever listens, stops, or tests. */
export interface AppOptions {
  readonly config: Config;
  readonly database: Database;
  /** Folder of the migrations, or null when the database is prepared already (tests). */
  readonly migrations: string | null;
  readonly version: string;
  readonly log: Log;
  readonly mailer: Mailer;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly keyPairs?: KeyPairStock;
  readonly webhooks?: WebhookPorts;
  /** Of a process that serves beside others on one port; `src/worker-link.ts`. */
  readonly worker?: Worker;
}

interface Worker {
  /** From 1. */
  readonly place: number;
  /** Makes something of this process known to the others, and answers that of all. */
  readonly gather: <T>(own: () => Promise<T>) => () => Promise<readonly T[]>;
}

export interface App {
  readonly server: FastifyInstance;
  /** What waits for something scarce (src/transport/admission). */
  readonly queues: readonly QueueState[];
  readonly kek: Kek;
  /** From now on the examples of the OpenAPI document name these rows, so that they can be sent as they stand. */
  readonly showExamplesOf: (ids: ExampleIds) => void;
  /** Relays events and sends queued mails now, as the job does from time to time. */
  readonly flushMails: () => Promise<void>;
  /** Relays events and delivers webhooks that are due, as the job does all the time. */
  readonly flushWebhooks: () => Promise<void>;
  /** Removes what was deleted long enough ago, as the job does from time to time. */
  readonly purge: () => Promise<PurgeCounts>;
  /** Rotates the key of session tokens if it is due, as the job does; answers whether it was. */
  readonly rotateSystemKey: () => Promise<boolean>;
  /** Signs the audit logs that are due, as the job does; answers how many. */
  readonly signAuditLogs: () => Promise<number>;
  /** Removes audit entries that have had their time, as the job does; answers how many. */
  readonly cutAuditLogs: () => Promise<number>;
  /** Warns of API keys that will expire, as the job does; answers of how many. */
  readonly warnOfExpiry: () => Promise<number>;
  /** Seals anew what is under a former encryption key, as the job does. */
  readonly reseal: () => Promise<ResealCounts>;
  readonly close: () => Promise<void>;
}
