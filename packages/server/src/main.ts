import closeWithGrace from 'close-with-grace';
import cluster from 'node:cluster';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createApp } from './app.ts';
import { banner, listeningAt } from './runtime/banner.ts';
import { loadConfig, unreadVariables, type Config } from './config/config.ts';
import { openEmbedded, openPostgres, type Database } from './db/connection/open.ts';
import { createSeeding } from './dev-seed/seeding.ts';
import { consoleMailer, fileMailer, smtpMailer } from './events/mail/mailers.ts';
import type { Mailer } from './kernel/ports.ts';
import { announceFirstUser } from './runtime/first-user-link.ts';
import { createLog, type Log } from './runtime/log.ts';
import { jsonOutput, readableOutput } from './runtime/log-output.ts';
import { listenFault, startFault } from './runtime/start-fault.ts';
import { workerLink, type WorkerLink } from './runtime/worker-link.ts';
import { runWorkers } from './runtime/workers.ts';

/* Reads the environment, creates the app and listens, in this process or in WORKERS processes. */

const root = join(import.meta.dirname, '..');
const consoleFolder = join(root, 'dist/console');
const docsFolder = join(root, 'dist/docs');

/** How many connections the operating system queues until the process accepts them. A burst of a thousand must fit. */
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

async function start(config: Config, link: WorkerLink | null, log: Log): Promise<void> {
  const began = performance.now();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const database = await openDatabase(config, log);
  const mailer = mailerOf(config, log);
  // Only the first worker seeds.
  const seeding = config.devSeed && (link?.number ?? 1) === 1 ? createSeeding(mailer, log) : null;
  const app = await createApp({
    config,
    database,
    migrations: config.database.migrateOnStart ? join(root, 'migrations') : null,
    ...(existsSync(consoleFolder) && { consoleFolder }),
    ...(existsSync(docsFolder) && { docsFolder }),
    version,
    log: seeding?.log ?? log,
    mailer: seeding?.mailer ?? mailer,
    ...(link && { worker: link }),
  });
  // Before the service listens, so that a client that waits for it sees the whole demo.
  const demo = await seeding?.run(app, config);
  const { host, port: configuredPort } = config.http;
  await app.server.listen({ host, port: configuredPort, backlog: BACKLOG }).catch((error: unknown) => {
    throw listenFault(error, config.http);
  });
  const address = app.server.server.address();
  const port = typeof address === 'object' && address ? address.port : configuredPort;
  if (!link) announceReady(config, log, port, performance.now() - began);
  if (demo) print(demo(baseOf(config, port)));
  if (!config.devSeed) {
    const issue = () => app.issueFirstUserToken(`${hostname()}:${port}`);
    const announcement = { config, base: baseOf(config, port), issue, print, log };
    void (link?.started ?? Promise.resolve()).then(() => announceFirstUser(announcement));
  }
  const delay = config.http.shutdownGraceSeconds * 1000;
  const closing = closeWithGrace({ delay, skip: link ? [...FORWARDED_SIGNALS] : [] }, async ({ err }) => {
    if (err) log.error({ error: err, message: 'stopping after an unexpected failure' });
    await app.close();
    await flushed(log);
  });
  void link?.stopped.then(() => closing.close());
}

/** Returns the public URL. With PORT=0, the port is known only after listening. */
const baseOf = ({ appUrl }: Config, port: number): string => appUrl.replace(/:0$/, `:${port}`);

/** Signals that a worker ignores, because the first process handles them for all workers. */
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

/** Reports that the service is ready: by a log entry in production, otherwise by the banner. */
function announceReady(config: Config, log: Log, port: number, milliseconds: number): void {
  const url = listeningAt(config.http.host, port);
  const appUrl = baseOf(config, port);
  const ms = Math.round(milliseconds);
  if (config.production)
    return log.info({ message: 'ready', url, ...(appUrl === url ? {} : { appUrl }), ms });
  const next = existsSync(join(root, '../../scripts/demo.ts'))
    ? 'npm run demo'
    : `npx doorward login --url ${appUrl}`;
  print(
    banner({ ...config, appUrl }, url, { ms, next, docs: config.docs.enabled && existsSync(docsFolder) }),
  );
}

/** Resolves when the log is written. A process that exits earlier loses its last entries. */
const flushed = (log: Log): Promise<void> => new Promise((done) => log.flush(() => done()));

try {
  const config = loadConfig(process.env);
  const { level, pretty } = config.log;
  const log = createLog(level, pretty ? readableOutput() : jsonOutput());
  if (cluster.isPrimary) {
    for (const message of unreadVariables(process.env)) log.warn({ message });
  }
  if (config.http.workers > 1 && cluster.isPrimary) {
    const began = performance.now();
    const { workers: count, shutdownGraceSeconds: graceSeconds } = config.http;
    const ready = (port: number) => announceReady(config, log, port, performance.now() - began);
    runWorkers({ count, graceSeconds, log, ready });
  } else {
    try {
      await start(config, workerLink(process.env), log);
    } finally {
      await flushed(log);
    }
  }
} catch (error) {
  process.stderr.write(`${startFault(error)}\n`);
  process.exit(1);
}
