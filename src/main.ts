import closeWithGrace from 'close-with-grace';
import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from './app.ts';
import { banner, listeningAt } from './banner.ts';
import { loadConfig, unreadVariables, type Config } from './config.ts';
import { openEmbedded, openPostgres, type Database } from './db/open.ts';
import { createFrontDoor, repeating } from './dev-seed/front-door.ts';
import { createDemoMailbox } from './dev-seed/mailbox.ts';
import { seedDemo } from './dev-seed/seed.ts';
import { consoleMailer, fileMailer, smtpMailer } from './events/mailers.ts';
import { madeUpIds } from './kernel/example-ids.ts';
import type { Mailer } from './kernel/ports.ts';
import { createLog, type Log } from './log.ts';
import { jsonOutput, prettyOutput } from './log-output.ts';
import { listenFault, startFault } from './start-fault.ts';
import { workerLink, type WorkerLink } from './worker-link.ts';
import { runWorkers } from './workers.ts';

/** Environment → app → listen, here or in WORKERS processes. Closes on a signal; a second one forces. */
const root = join(import.meta.dirname, '..');

/** Connections that the system may hold until the process takes them: a burst of a thousand must not be turned away there. */
const BACKLOG = 4096;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function openDatabase({ database, dataDir, overload }: Config, log: Log): Promise<Database> {
  if (database.url === undefined) return openEmbedded(dataDir);
  return openPostgres({
    url: database.url,
    poolMax: database.poolMax,
    acquireTimeoutMs: database.acquireTimeoutMs,
    maxWaitMs: overload.maxWaitMs,
    statementTimeoutMs: database.statementTimeoutMs,
    onIdleError: (error) => log.warn({ error, message: 'an idle database connection was lost' }),
  });
}

function mailerOf({ mail, production }: Config, log: Log): Mailer {
  if (mail.provider === 'smtp' && mail.smtpUrl) return smtpMailer(mail.smtpUrl, mail.from);
  if (mail.provider === 'file') return fileMailer(mail.fileDir);
  if (!production) return consoleMailer(print);
  log.warn({ message: 'MAIL_PROVIDER=console: mails, and the links in them, are written to this log' });
  return consoleMailer((text) => log.warn({ message: text }));
}

async function openLog({ level, pretty }: Config['log']): Promise<Log> {
  const output = pretty ? await prettyOutput() : jsonOutput();
  if (output) return createLog(level, output);
  const log = createLog(level, jsonOutput());
  log.warn({ message: 'LOG_PRETTY needs the package pino-pretty, which is not installed: lines stay JSON' });
  return log;
}

async function start(config: Config, link: WorkerLink | null, log: Log): Promise<void> {
  const began = performance.now();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const database = await openDatabase(config, log);
  const mailer = mailerOf(config, log);
  // Of several workers one seeds.
  const mailbox = config.devSeed && (link?.place ?? 1) === 1 ? createDemoMailbox(mailer) : null;
  const app = await createApp({
    config,
    database,
    migrations: config.database.migrateOnStart ? join(root, 'migrations') : null,
    version,
    log,
    mailer: mailbox?.mailer ?? mailer,
    ...(link && { worker: link }),
  });
  const { host, port: wanted } = config.http;
  await app.server.listen({ host, port: wanted, backlog: BACKLOG }).catch((error: unknown) => {
    throw listenFault(error, config.http);
  });
  const address = app.server.server.address();
  const port = typeof address === 'object' && address ? address.port : wanted;
  if (!link) announce(config, log, port, performance.now() - began);
  const delay = config.http.shutdownGraceSeconds * 1000;
  const closing = closeWithGrace({ delay, skip: link ? [...PASSED_ON] : [] }, async ({ err }) => {
    if (err) log.error({ error: err, message: 'stopping after an unexpected failure' });
    await app.close();
    await flushed(log);
  });
  void link?.stopped.then(() => closing.close());
  if (!mailbox) return;
  const { dataDir } = config;
  const ask = repeating(createFrontDoor(app.server, new URL(config.appUrl).host));
  const seeding = { ask, nextToken: mailbox.nextToken, dataDir, print };
  try {
    const { account = madeUpIds.account, ...place } = await seedDemo({
      ...seeding,
      base: baseOf(config, port),
    });
    app.showExamplesOf({ account, ...place });
  } catch (error) {
    log.warn({ message: `DEV_SEED: ${(error as Error).message}` });
  }
}

/** Where callers find the service; PORT=0 is known only now. */
const baseOf = ({ appUrl }: Config, port: number): string => appUrl.replace(/:0$/, `:${port}`);

/** Signals on which a worker leaves it to the first process what becomes of all. */
const PASSED_ON = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

/** Says that the service is ready: in production by a line of the log. */
function announce(config: Config, log: Log, port: number, milliseconds: number): void {
  const url = listeningAt(config.http.host, port);
  const appUrl = baseOf(config, port);
  const ms = Math.round(milliseconds);
  if (config.production)
    return log.info({ message: 'ready', url, ...(appUrl === url ? {} : { appUrl }), ms });
  print(banner({ ...config, appUrl }, url, ms));
}

/** Resolves when every line is out; a process that ends at once may lose what is on its way. */
const flushed = (log: Log): Promise<void> => new Promise((done) => log.flush(() => done()));

try {
  const config = loadConfig(process.env);
  const log = await openLog(config.log);
  if (cluster.isPrimary) {
    for (const message of unreadVariables(process.env)) log.warn({ message });
  }
  if (config.http.workers > 1 && cluster.isPrimary) {
    const began = performance.now();
    const { workers: count, shutdownGraceSeconds: graceSeconds } = config.http;
    const ready = (port: number) => announce(config, log, port, performance.now() - began);
    runWorkers({ count, graceSeconds, log, ready });
  } else await start(config, workerLink(process.env), log).finally(() => flushed(log));
} catch (error) {
  process.stderr.write(`${startFault(error)}\n`);
  process.exit(1);
}
