import { createAppOrigins } from './access/app-origins.ts';
import { builtIns } from './access/built-in.ts';
import { createCredentials } from './access/credentials.ts';
import { createKnownKeys } from './access/known-keys.ts';
import { createGuard } from './access/guard.ts';
import { createRehearsal } from './access/rehearsal.ts';
import { createResolver } from './access/resolve.ts';
import { createKek } from './crypto/kek.ts';
import { createKeyring } from './crypto/keyring.ts';
import { resolveEncryptionKeys } from './crypto/encryption-keys.ts';
import { createPasswords } from './crypto/passwords.ts';
import { createKeyPairStock } from './crypto/rsa.ts';
import { createReseal, type ResealCounts } from './crypto/reseal.ts';
import { connectRedis } from './db/redis.ts';
import { numberOf, openChanges } from './db/changes.ts';
import { createCursors } from './db/cursor.ts';
import { createIdempotency } from './db/idempotency.ts';
import { prepareDatabase } from './db/migrate.ts';
import type { Database } from './db/open.ts';
import { createPurge } from './db/purge.ts';
import { checkDatabase } from './db/readiness.ts';
import { bindScope } from './db/scoped-db.ts';
import { createRevisions } from './db/revisions.ts';
import { seedBuiltIns } from './db/seed.ts';
import { createSharedTransaction } from './db/shared-commit.ts';
import { createTotals } from './db/totals.ts';
import { establishInstallation } from './crypto/installation.ts';
import { createCheckpoints } from './events/checkpoints.ts';
import { createCommit } from './events/commit.ts';
import { erasePage } from './events/erasure.ts';
import { createDenials } from './events/denials.ts';
import { createMailOutbox } from './events/mail-outbox.ts';
import { createRecorder } from './events/record.ts';
import { createTenantQueues } from './events/tenant-queues.ts';
import { createRelay } from './events/relay.ts';
import { createAuditRetention, declareAuditRetention } from './events/retention.ts';
import { createSystemActs } from './events/system-act.ts';
import { warnOfExpiringKeys } from './features/api-keys/expiry.ts';
import { eventData, isWhole, sentEvents } from './features/event-types/catalogue.ts';
import { pageQuestions } from './features/project-sign-in/page-questions.ts';
import { watchKeysOfOthers } from './features/memberships/outgrown-keys.ts';
import { createNotifier } from './features/notifications/notifier.ts';
import { sealedColumns } from './features/sealed-columns.ts';
import { rotateSystemKeyIfDue } from './features/signing-keys/system-rotation.ts';
import { createWebhookDelivery, webhookPorts } from './features/webhook-delivery/delivery.ts';
import { createFanOut } from './features/webhook-subscriptions/fan-out.ts';
import { createTargetGuard } from './features/webhook-targets/target-guard.ts';
import { createIds } from './ids.ts';
import { startJobs } from './jobs.ts';
import type { Services } from './kernel/context.ts';
import { createInvoke } from './kernel/invoke.ts';
import { noNotes } from './kernel/stages.ts';
import type { Clock } from './kernel/ports.ts';
import { assertSound, declaredPermissions, operations, tagDescriptions } from './operations.ts';
import { entities } from './entities.ts';
import { createAdmission } from './transport/admission/admission.ts';
import { createAuthenticate } from './transport/authenticate.ts';
import { registerHostedPages } from './pages/hosted.ts';
import { createHttp } from './transport/http.ts';
import { createRateLimiter, limitCalls } from './transport/rate-limit.ts';
import { serveOperations } from './transport/serve.ts';
import type { App, AppOptions } from './running-app.ts';

const MINUTE_MS = 60_000;
/** The embedded database does one thing at a time; a few more operations may sign or hash meanwhile. */
const EMBEDDED_SLOTS = 4;
const realClock: Clock = { now: () => new Date() };

/**
 * The composition root: the only place that knows every part. Configuration, a database and the ports to the
 * outside go in; a server comes out that can listen or be injected into.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const {
    config,
    database,
    migrations,
    version,
    log,
    mailer,
    clock = realClock,
    ids = createIds(realClock),
  } = options;
  assertSound(operations);
  const kek = createKek(await resolveEncryptionKeys(config));
  const keyPairs = options.keyPairs ?? createKeyPairStock({ bits: config.tokens.rsaBits, size: 4 });
  const rows = builtIns(declaredPermissions(operations));
  let installation = '';
  const lacking = await prepareDatabase(database, migrations, async (db) => {
    await seedBuiltIns(db, rows);
    installation = await establishInstallation(db, { kek, keyPairs, ids, issuer: config.appUrl });
    const otherwise = await declareAuditRetention(db, config.retention.auditDays);
    if (otherwise !== null) log.warn({ message: otherwise });
  });
  for (const unkept of lacking) log.warn({ message: `${unkept} (docs/operating.md)` });

  const { pool, rls } = database;
  const embedded = database.mode === 'embedded';
  const logged = (error: unknown, message: string): void => log.error({ error, message });
  const changes = await openChanges(database, logged);
  const revisions = createRevisions(kek.deriveAll('revision'));
  const resolver = createResolver(pool, changes, rows);
  const keyring = createKeyring({ pool, kek, changes });
  const redis =
    config.redisUrl === undefined
      ? undefined
      : await connectRedis(config.redisUrl, (message) => log.warn({ message }));
  const limiter = createRateLimiter({
    config: config.rateLimits.classes,
    enabled: config.rateLimits.enabled,
    ...(redis ? { redis, installation } : {}),
  });
  const mail = createMailOutbox({ pool, kek, mailer, clock, ids, log: logged });
  const cursors = createCursors(kek.derive('cursor'), clock);
  const listing = { cursors, totals: createTotals(), ids, clock };
  const ports = options.webhooks ?? webhookPorts();
  const guard = createTargetGuard(config.webhooks, ports.resolve);
  let stopping = false;
  const services: Services = {
    config,
    clock,
    ids,
    kek,
    cursors,
    keyring,
    knownKeys: createKnownKeys(pool, changes),
    keyPairs,
    passwords: createPasswords({ concurrency: 2 }),
    resolver,
    builtIns: rows,
    mail,
    assertUrlAllowed: (url) => guard.assertUrlAllowed(url),
    webhooksDue: () => void (config.jobs.enabled && webhooks.look()),
    purgeUrgent: () => purge.runUrgent(),
    limiter,
    warn: (error, message) => log.warn({ error, message }),
    readiness: async () => ({ serving: !stopping, checks: await checkDatabase(pool, changes) }),
  };

  const fanOut = createFanOut(services);
  const relay = createRelay({
    database,
    consumers: [createNotifier(services), fanOut],
    relayed: () => {
      void mail.flush();
      if (fanOut.hasWritten()) services.webhooksDue();
    },
    log: logged,
  });
  /** Also what could not be done at once, and what a process that died left behind. */
  const flush = async (): Promise<void> => {
    await relay.flush();
    await mail.flush();
  };
  const record = createRecorder(ids, relay, { data: eventData, isWhole });
  const logCall = (error: unknown, message: string, requestId: string): void =>
    log.error({ error, message, requestId });
  const transaction: Database['transaction'] = (work) => database.transaction(work);
  const shared = createSharedTransaction(transaction);
  const queues = createTenantQueues();
  const commit = createCommit({ record, changes, revisions, shared, queues, log: logCall });
  const actAsSystem = createSystemActs({ transaction, commit, ids });
  const webhooks = createWebhookDelivery({ services, pool, actAsSystem, guard, ports, log: logged });
  if (embedded) await webhooks.reclaim();
  const admission = createAdmission({
    services,
    ...config.overload,
    databaseSlots: embedded ? EMBEDDED_SLOTS : config.database.poolMax,
    onEventLoop: embedded,
  });
  const denials = createDenials({ transaction, record, clock, log: logged });
  const invoke = denials.watch(
    createInvoke({
      services,
      reach(revision, call) {
        const waiting = changes.reach(revisions.open(revision));
        return waiting ? waiting.then(call.authenticate) : call.authenticate();
      },
      limit: limitCalls(limiter),
      admit: admission.admit,
      ...resolver,
      belongs: admission.remember,
      guard: createGuard({ stepUpMaxAgeMinutes: config.auth.stepUpMaxAgeMinutes, clock, changes }),
      pool,
      ...rls,
      watchGains: (tx, { nodeId }) => watchKeysOfOthers(tx, rows.nouns, nodeId),
      scopedDb: (tx, scope, op, notes, principal, related) =>
        bindScope({ tx, scope, notes, ...listing, list: `${op.name} ${principal?.credentialId}`, related }),
      transaction,
      once: createIdempotency({
        database,
        clock,
        hashKeys: kek.deriveAll('idempotency'),
        revision: async (db) => revisions.seal(await numberOf(db)),
        log: logged,
      }),
      commit,
      rehearse: createRehearsal(database, rows.nouns),
    }),
  );

  const server = createHttp({
    config,
    authenticate: createAuthenticate({
      keyring,
      credentials: createCredentials(pool, changes),
      changes,
      clock,
      audience: config.appUrl,
    }),
    catchUp: () => changes.reach(null),
    limiter,
    appOrigins: createAppOrigins(pool, changes),
    log: logCall,
    logLine: log.isLevelEnabled('info') ? (line) => log.info(line) : null,
  });
  const nested = { ...listing, notes: noNotes(), list: '' };
  const { showExamplesOf } = serveOperations(server, {
    config,
    operations,
    entities,
    invoke,
    limiter,
    services,
    database,
    related: ({ scope, related }, entity, relation, keys) =>
      rls.read(scope, (tx) => bindScope({ tx, scope, related, ...nested }).related(entity, relation, keys)),
    document: { version, tags: tagDescriptions, events: sentEvents() },
    log: logCall,
    queues: () => admission.queues,
    worker: options.worker,
  });
  const purge = createPurge({
    database,
    clock,
    retention: config.retention,
    eraseFromLogs: erasePage,
    log: logged,
    told: (purged) => log.info({ message: 'purged', purged }),
  });
  const rotateSystemKey = () => rotateSystemKeyIfDue(services, pool, actAsSystem, logged);
  const checkpoints = createCheckpoints({ pool, keyring, clock, actAsSystem, log: logged });
  const auditRetention = createAuditRetention({
    database,
    keyring,
    days: config.retention.auditDays,
    log: logged,
    told: (entries) => log.info({ message: 'audit logs cut', entries }),
  });
  const warnOfExpiry = () => warnOfExpiringKeys(services, pool, actAsSystem, logged);
  const told = (resealed: ResealCounts) => log.info({ message: 'resealed', resealed });
  const reseal = createReseal({ pool, kek, columns: sealedColumns, log: logged, told });
  const stopJobs = startJobs(
    !config.jobs.enabled
      ? []
      : [
          { everyMs: 10_000, run: flush },
          { everyMs: 2_000, run: webhooks.look },
          { everyMs: MINUTE_MS, run: webhooks.probe },
          { everyMs: MINUTE_MS, run: () => denials.flush() },
          { everyMs: MINUTE_MS, run: () => checkpoints.run() },
          { everyMs: 15 * MINUTE_MS, run: () => purge.run() },
          { everyMs: 15 * MINUTE_MS, run: () => auditRetention.run() },
          { everyMs: 60 * MINUTE_MS, run: rotateSystemKey },
          { everyMs: 60 * MINUTE_MS, run: warnOfExpiry },
          ...(config.encryption.oldKeys.length > 0 ? [{ everyMs: MINUTE_MS, run: () => reseal.run() }] : []),
        ],
  );
  const serves = { explorer: config.graphql.explorer, documentation: config.docs.enabled };
  registerHostedPages(server, { https: config.security.https, serves, ...pageQuestions(pool, services) });
  await server.ready();
  return {
    server,
    queues: admission.queues,
    showExamplesOf,
    kek,
    flushMails: flush,
    flushWebhooks: () => relay.flush().then(webhooks.flush),
    purge: () => purge.run(),
    rotateSystemKey,
    signAuditLogs: () => checkpoints.run(),
    cutAuditLogs: () => auditRetention.run(),
    warnOfExpiry,
    reseal: () => reseal.run(),
    async close() {
      stopping = true;
      await server.close();
      stopJobs();
      const working = [purge, reseal, checkpoints, auditRetention, webhooks];
      await Promise.all(working.map((one) => one.stop()));
      await denials.flush(true);
      await relay.stop();
      await mail.flush();
      await changes.close();
      keyPairs.close();
      if (redis) await redis.close().catch(() => redis.destroy());
      await database.close();
    },
  };
}
