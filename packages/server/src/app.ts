import { createAppOrigins } from './access/credentials/app-origins.ts';
import { builtIns } from './access/built-in.ts';
import { createCredentials } from './access/credentials/credentials.ts';
import { createApiKeyCache } from './access/credentials/api-key-cache.ts';
import { createGuard } from './access/guard.ts';
import { createDryRun } from './access/dry-run/dry-run.ts';
import { createResolver } from './access/resolve.ts';
import { createKek } from './crypto/keys/kek.ts';
import { createKeyring } from './crypto/keys/keyring.ts';
import { resolveEncryptionKeys } from './crypto/keys/encryption-keys.ts';
import { createPasswords } from './crypto/passwords/passwords.ts';
import { createKeyPairStock } from './crypto/keys/rsa.ts';
import { createReseal, type ResealCounts } from './crypto/keys/reseal.ts';
import { connectRedis } from './db/connection/redis.ts';
import { transactionNumber, openChanges } from './db/cache/changes.ts';
import { createCursors } from './db/query/cursor.ts';
import { createIdempotency } from './db/idempotency/idempotency.ts';
import { createRepeatedSteps } from './sign-in/flow/repeated-steps.ts';
import { prepareDatabase } from './db/preparation/migrate.ts';
import type { Database } from './db/connection/open.ts';
import { createPurge } from './db/purge/purge.ts';
import { readGauges } from './db/connection/gauges.ts';
import { checkDatabase } from './db/preparation/readiness.ts';
import { bindScope } from './db/query/scoped-crud.ts';
import { createRevisions } from './db/cache/revisions.ts';
import { seedBuiltIns } from './db/seed.ts';
import { createGroupCommit } from './db/connection/group-commit.ts';
import { createTotals } from './db/query/totals.ts';
import { establishInstallation } from './crypto/keys/installation.ts';
import { createCheckpoints } from './events/audit/checkpoints.ts';
import { createCommit } from './events/commit.ts';
import { eraseBatch } from './events/audit/erasure.ts';
import { createDenials } from './events/audit/denials.ts';
import { createMailOutbox } from './events/mail/mail-outbox.ts';
import { createRecorder } from './events/record.ts';
import { createTenantQueues } from './events/outbox/tenant-queues.ts';
import { createRelay } from './events/outbox/relay.ts';
import { createAuditRetention, declareAuditRetention } from './events/audit/retention.ts';
import { createSystemActs } from './events/system-act.ts';
import { recheckDomains } from './tenants/domains/recheck.ts';
import { issueFirstUserToken } from './sign-in/auth/first-user-token.ts';
import { warnOfExpiringKeys } from './machines/api-keys/expiry.ts';
import { eventData, isFixedMember } from './webhooks/event-types/catalogue.ts';
import { sentEvents } from './webhooks/event-types/sent-events.ts';
import { pageQuestions } from './sign-in/page-state/page-questions.ts';
import { watchForExcessKeys } from './members/excess-keys/excess-keys.ts';
import { createPolicySnapshots } from './rights/snapshots/policy-snapshots.ts';
import { reconcileOperators } from './operators/configured.ts';
import { createEntryNotes } from './operators/entries.ts';
import { carryOutFactorResets } from './sign-in/second-factor/reset.ts';
import { createNotifier } from './account/notifications/notifier.ts';
import { sealedColumns } from './crypto/keys/sealed-columns.ts';
import { rotateSystemKeyIfDue } from './machines/signing-keys/system-rotation.ts';
import { createWebhookDelivery, webhookPorts } from './webhooks/delivery/delivery.ts';
import { createBackchannelLogout } from './oauth/backchannel-logout/sender.ts';
import { createDnsResolver } from './tenants/domains/dns-resolver.ts';
import { createIdentityProviders } from './providers/providers.ts';
import { createFanOut } from './webhooks/subscriptions/fan-out.ts';
import { createTargetGuard } from './outgoing/target-guard.ts';
import { createIds } from './runtime/ids.ts';
import { deleteUnusedApps } from './oauth/registration/unused-apps.ts';
import { every, startJobs } from './runtime/jobs.ts';
import { realClock, realDelay } from './runtime/time.ts';
import type { Services } from './services.ts';
import { createInvoke } from './kernel/invoke.ts';
import { createNotes } from './kernel/stages.ts';
import { assertValidOperations, declaredPermissions, operations, tagDescriptions } from './operations.ts';
import { entities } from './entities.ts';
import { createAdmission } from './http/admission/admission.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { registerHostedPages } from './pages/hosted.ts';
import { pageSettings } from './sign-in/page-state/page-settings.ts';
import { createHttp, type HttpOptions } from './http/server.ts';
import { createRateLimiter, limitCalls } from './http/rate-limit.ts';
import { serveOperations } from './transports.ts';
import type { App, AppOptions } from './running-app.ts';

const MINUTE_MS = 60_000;
/** The embedded database runs one statement at a time; more operations may run, because they also sign and hash. */
const EMBEDDED_SLOTS = 4;

/** The composition root: creates every component and connects them. No other module depends on all of them. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, database, migrations, version, log, mailer, passwordCost } = options;
  const {
    clock = realClock,
    delay = realDelay,
    ids = createIds(realClock),
    dns = createDnsResolver(config.dns),
  } = options;
  assertValidOperations(operations);
  const kek = createKek(await resolveEncryptionKeys(config));
  const keyPairs = options.keyPairs ?? createKeyPairStock({ bits: config.tokens.rsaBits, size: 4 });
  const rows = builtIns(declaredPermissions(operations));
  const warn = (message: string): void => log.warn({ message });
  let installation = '';
  const warnings = await prepareDatabase(database, migrations, async (db) => {
    await seedBuiltIns(db, rows);
    installation = await establishInstallation(db, { kek, keyPairs, ids, issuer: config.appUrl });
    const retentionWarning = await declareAuditRetention(db, config.retention.auditDays);
    if (retentionWarning !== null) warn(retentionWarning);
  });
  for (const warning of warnings) warn(`${warning} (docs/operating/postgresql.md)`);
  const { pool, rls } = database;
  const embedded = database.mode === 'embedded';
  const logError = (error: unknown, message: string): void => log.error({ error, message });
  const changes = await openChanges(database, logError);
  const revisions = createRevisions(kek.deriveAll('revision'));
  const resolver = createResolver(pool, changes, rows, config.operators);
  const keyring = createKeyring({ pool, kek, changes });
  const redis = config.redisUrl === undefined ? undefined : await connectRedis(config.redisUrl, warn);
  const { classes, enabled } = config.rateLimits;
  const limiter = createRateLimiter({ config: classes, enabled, ...(redis ? { redis, installation } : {}) });
  const mail = createMailOutbox({ pool, kek, mailer, clock, ids, log: logError });
  const cursors = createCursors(kek.derive('cursor'), clock);
  const listing = { cursors, totals: createTotals(), ids, clock };
  const ports = options.webhooks ?? webhookPorts();
  const guard = createTargetGuard(config.webhooks, ports.resolve);
  let stopping = false;
  const imitationKey = kek.derive('hash-imitation');
  const services: Services = {
    ...{ config, clock, delay, ids, dns, kek },
    cursors,
    revisions,
    keyring,
    knownKeys: createApiKeyCache(pool, changes),
    credentials: createCredentials(pool, changes, config.operators),
    keyPairs,
    passwords: createPasswords({ concurrency: 2, imitationKey, clock, cost: passwordCost }),
    resolver,
    builtIns: rows,
    mail,
    identityProviders: createIdentityProviders(config, { resolve: ports.resolve, clock, kek, warn }),
    assertUrlAllowed: (url, path) => guard.assertUrlAllowed(url, path),
    webhooksDue: () => void (config.jobs.enabled && webhooks.deliverDue()),
    purgeUrgent: () => purge.runUrgent(),
    limiter,
    policySnapshots: createPolicySnapshots(rows, { database, changes, clock, keyring, revisions, config }),
    warn: (error, message) => log.warn({ error, message }),
    process: { version, startedAt: clock.now(), warnings, queues: () => admission.queues },
    gauges: () => readGauges(database),
    readiness: async () => ({ serving: !stopping, checks: await checkDatabase(pool, changes) }),
  };

  const fanOut = createFanOut(services);
  const relay = createRelay({
    database,
    consumers: [createNotifier(services), fanOut],
    onRelayed: () => {
      void mail.flush();
      if (fanOut.hasWritten()) services.webhooksDue();
    },
    log: logError,
  });
  /** Relays events and sends queued mails, including those that failed before or that a crashed process left behind. */
  const flush = (): Promise<void> => relay.flush().then(() => mail.flush());
  const record = createRecorder(ids, relay, { data: eventData, isNeverCut: isFixedMember });
  const logFault: HttpOptions['log'] = (error, message, requestId) =>
    log.error({ error, message, requestId });
  const transaction: Database['transaction'] = (work) => database.transaction(work);
  const queues = createTenantQueues();
  const commit = createCommit({ record, changes, revisions, queues, log: logFault });
  const actAsSystem = createSystemActs({ transaction, commit, ids });
  const webhooks = createWebhookDelivery({ services, pool, actAsSystem, guard, ports, log: logError });
  if (embedded) await webhooks.releaseLeases();
  const logouts = createBackchannelLogout({ services, pool, guard, ports, log: logError });
  const databaseSlots = embedded ? EMBEDDED_SLOTS : config.database.poolMax;
  const admission = createAdmission({ services, ...config.overload, databaseSlots, onEventLoop: embedded });
  const denials = createDenials({ transaction, record, clock, log: logError });
  const idempotency = createIdempotency({
    database,
    clock,
    hashKeys: kek.deriveAll('idempotency'),
    revision: async (db) => revisions.seal(await transactionNumber(db)),
    log: logError,
  });
  const repeatedSteps = createRepeatedSteps({ pool, transaction, clock, kek });
  const invoke = denials.watch(
    createInvoke({
      services,
      awaitRevision(revision, call) {
        const waiting = changes.awaitTransaction(revisions.open(revision));
        return waiting ? waiting.then(call.authenticate) : call.authenticate();
      },
      limit: limitCalls(limiter),
      admit: admission.admit,
      ...resolver,
      noteMembership: admission.rememberOwner,
      ...createEntryNotes(actAsSystem),
      guard: createGuard(config, { clock, changes }),
      pool,
      ...rls,
      watchGainedPermissions: (tx, { nodeId }) => watchForExcessKeys(tx, rows.nouns, nodeId),
      scopedDb: (tx, scope, op, notes, principal, related) =>
        bindScope({ tx, scope, notes, ...listing, list: `${op.name} ${principal?.credentialId}`, related }),
      transaction,
      groupCommit: createGroupCommit(transaction),
      runOnce: (op, call) => idempotency(op, call) ?? repeatedSteps(op, call),
      commit,
      dryRun: createDryRun(database, rows.nouns),
    }),
  );

  const server = createHttp({
    config,
    authenticate: createAuthenticate({
      ...services,
      changes,
      audience: config.appUrl,
      operatorNetworks: config.operators.allowedCidrs,
    }),
    catchUp: () => changes.awaitTransaction(null),
    limiter,
    appOrigins: createAppOrigins(pool, changes),
    log: logFault,
    logRequest: log.isLevelEnabled('info') ? (line) => log.info(line) : null,
  });
  const nested = { ...listing, notes: createNotes(), list: '' };
  const { setExampleIds, account } = serveOperations(server, {
    ...{ config, operations, entities, invoke, limiter, services, database },
    built: options,
    related: ({ scope, related }, entity, relation, keys) =>
      rls.read(scope, (tx) => bindScope({ tx, scope, related, ...nested }).related(entity, relation, keys)),
    document: { version, tags: tagDescriptions, events: sentEvents() },
    log: logFault,
    queues: () => admission.queues,
    worker: options.worker,
  });
  const purge = createPurge({
    database,
    clock,
    retention: config.retention,
    eraseFromLogs: eraseBatch,
    log: logError,
    onPurged: (purged) => log.info({ message: 'purged', purged }),
  });
  const rotateSystemKey = () => rotateSystemKeyIfDue(services, pool, actAsSystem, logError);
  const checkpoints = createCheckpoints({ pool, keyring, clock, actAsSystem, log: logError });
  const auditRetention = createAuditRetention({
    ...{ database, keyring, days: config.retention.auditDays, log: logError },
    onCut: (entries) => log.info({ message: 'audit logs cut', entries }),
  });
  const recordOperators = () => reconcileOperators(services, pool, actAsSystem, logError);
  const resetFactors = () => carryOutFactorResets(services, pool, actAsSystem, logError);
  const warnOfExpiry = () => warnOfExpiringKeys(services, pool, actAsSystem, logError);
  const recheck = () => recheckDomains(services, pool, actAsSystem, logError);
  const deleteUnused = () => deleteUnusedApps(services, pool, actAsSystem, logError);
  const fetchLogos = () => services.identityProviders.logos.fetchMissing();
  const logResealed = (resealed: ResealCounts): void => log.info({ message: 'resealed', resealed });
  const reseal = createReseal({ pool, kek, columns: sealedColumns, log: logError, onResealed: logResealed });
  const stopJobs = startJobs(config.jobs, [
    ...every(10_000, flush),
    ...every(2_000, () => webhooks.deliverDue().then(logouts.sendDue)),
    ...every(MINUTE_MS, webhooks.probe, () => denials.flush(), recordOperators, resetFactors),
    ...every(MINUTE_MS, checkpoints.run),
    ...every(15 * MINUTE_MS, () => purge.run(), auditRetention.run, fetchLogos),
    ...every(60 * MINUTE_MS, rotateSystemKey, warnOfExpiry, recheck, deleteUnused),
    ...(config.encryption.oldKeys.length > 0 ? every(MINUTE_MS, () => reseal.run()) : []),
  ]);
  const pages = { account, ...pageSettings(config, options), ...pageQuestions(pool, services) };
  registerHostedPages(server, pages);
  await server.ready();
  void fetchLogos();
  if (config.jobs.enabled) await recordOperators();
  return {
    server,
    queues: admission.queues,
    setExampleIds,
    kek,
    issueFirstUserToken: (issuer) => issueFirstUserToken(services, pool, issuer),
    flushMails: flush,
    flushWebhooks: () => relay.flush().then(webhooks.flush).then(logouts.flush),
    purge: () => purge.run(),
    rotateSystemKey,
    signAuditLogs: checkpoints.run,
    cutAuditLogs: auditRetention.run,
    warnOfExpiry,
    recheckDomains: recheck,
    deleteUnusedApps: deleteUnused,
    recordOperators,
    resetFactors,
    reseal: () => reseal.run(),
    async close() {
      stopping = true;
      services.policySnapshots.stop();
      await server.close();
      stopJobs();
      const working = [purge, reseal, checkpoints, auditRetention, webhooks, logouts];
      await Promise.all(working.map((item) => item.stop()));
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
