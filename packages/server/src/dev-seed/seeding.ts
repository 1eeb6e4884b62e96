import type { FastifyInstance } from 'fastify';
import { hostname } from 'node:os';
import { madeUpIds, type ExampleIds } from '../kernel/output/example-ids.ts';
import type { Mailer } from '../kernel/ports.ts';
import { createInternalClient, retryWhenBusy } from './internal-client.ts';
import { createDemoMailbox } from './mailbox.ts';
import { seedDemo } from './seed.ts';

/** The members of the app that the seed uses. */
interface SeededApp {
  readonly server: FastifyInstance;
  readonly issueFirstUserToken: (issuer: string) => Promise<string | null>;
  readonly setExampleIds: (ids: ExampleIds) => void;
}

interface Log {
  readonly info: (line: never) => void;
  readonly warn: (line: { readonly message: string }) => void;
}

/** The log and the mailer of a process with DEV_SEED, and its work before it listens. */
interface Seeding<L> {
  /** Without the requests of the seed, because they don't come from a client. */
  readonly log: L;
  readonly mailer: Mailer;
  /**
   * Seeds the database. Resolves to the function that returns the text to print once the service is ready. If the seed
   * fails, logs that and resolves to undefined.
   */
  readonly run: (
    app: SeededApp,
    config: { readonly appUrl: string; readonly dataDir: string },
  ) => Promise<((base: string) => string) | undefined>;
}

export function createSeeding<L extends Log>(mailer: Mailer, log: L): Seeding<L> {
  const mailbox = createDemoMailbox(mailer);
  let isSeeding = true;
  return {
    log: Object.assign(Object.create(log) as L, {
      info: (line: never) => void (isSeeding || log.info(line)),
    }),
    mailer: mailbox.mailer,
    async run(app, config) {
      const client = createInternalClient(app.server, new URL(config.appUrl).host);
      try {
        const { ids, notice } = await seedDemo({
          send: retryWhenBusy(client),
          nextToken: mailbox.nextToken,
          firstUserToken: () => app.issueFirstUserToken(`${hostname()} demo`),
          dataDir: config.dataDir,
        });
        app.setExampleIds({ ...ids, account: ids.account ?? madeUpIds.account });
        return notice;
      } catch (error) {
        log.warn({ message: `DEV_SEED: ${(error as Error).message}` });
        return undefined;
      } finally {
        isSeeding = false;
      }
    },
  };
}
