import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { WebhookPorts } from '../../webhooks/delivery/delivery.ts';
import { nextStep } from '../../webhooks/delivery/schedule.ts';
import type { TargetGuard } from '../../outgoing/target-guard.ts';
import { isAttempt } from '../../sessions/logout-notice.ts';
import { logoutNotices } from '../../schema/oauth/logout-notice.ts';

interface BackchannelLogout {
  /** Starts to send due logout notices; each attempt that ends starts the next ones. Never rejects. */
  readonly sendDue: () => Promise<void>;
  /** Resolves when no notice is due or being sent. */
  readonly flush: () => Promise<void>;
  /** Waits for running attempts, and starts no new ones. */
  readonly stop: () => Promise<void>;
}

interface Options {
  readonly services: Pick<Services, 'clock'> & {
    readonly keyring: Pick<Services['keyring'], 'signDocument'>;
  };
  readonly pool: Executor;
  readonly guard: Pick<TargetGuard, 'addressesOf'>;
  readonly ports: Pick<WebhookPorts, 'post' | 'random'>;
  readonly log: (error: unknown, message: string) => void;
}

interface Notice {
  readonly id: string;
  readonly attempts: number;
  readonly userId: string;
  readonly sessionId: string;
  readonly appId: string;
  readonly clientId: string;
  readonly projectId: string;
  readonly url: string;
}

const TIMEOUT_MS = 5_000;
/** After this time another process repeats an attempt whose process died. */
const LEASE_SECONDS = 30;
const CONCURRENCY = 32;
/** Limits the concurrent attempts for one app, so that a slow app does not delay the others. */
const CONCURRENCY_OF_AN_APP = 4;
const WAITS_SECONDS = [10, 60, 600, 3000];
const TOKEN_SECONDS = 120;

/**
 * Creates the sender of logout notices, which informs apps of ended sessions by a signed logout token (OpenID Connect
 * Back-Channel Logout 1.0). An attempt without a 2xx response is repeated up to four times, within about an hour unless
 * the app asks for longer waits; a 410 response ends the attempts. Targets are checked like those of webhooks.
 */
export function createBackchannelLogout(options: Options): BackchannelLogout {
  const { pool, log } = options;
  const running = new Map<string, { readonly appId: string; readonly done: Promise<void> }>();
  let stopping = false;

  async function sendDue(): Promise<void> {
    if (stopping || running.size >= CONCURRENCY) return;
    try {
      for (const notice of await claim(pool, options.services.clock.now(), busyApps())) {
        const done = attempt(options, notice)
          .catch((error: unknown) => log(error, 'an app did not take a logout token'))
          .finally(() => running.delete(notice.id))
          .then(sendDue);
        running.set(notice.id, { appId: notice.appId, done });
      }
    } catch (error) {
      log(error, 'logouts could not be read');
    }
  }
  const busyApps = (): string[] => [...running.values()].map(({ appId }) => appId);

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.all([...running.values()].map(({ done }) => done));
  }
  return {
    sendDue,
    flush: () => sendDue().then(idle),
    async stop() {
      stopping = true;
      await idle();
    },
  };
}

/** Leases due notices, only a few per app. */
async function claim(pool: Executor, now: Date, busy: readonly string[]): Promise<Notice[]> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const busyArray = `{${busy.join()}}`;
  return rowsOf<Notice>(
    pool,
    sql`with ranked as (
        select n.id, row_number() over (partition by n.project_app_id order by n.next_attempt_at, n.id)
          + (select count(*) from unnest(${busyArray}::uuid[]) b where b = n.project_app_id) as rank
        from (select * from logout_notices where next_attempt_at <= ${at} order by next_attempt_at limit 1000) n),
      due as (select l.id from logout_notices l join ranked r on r.id = l.id
        where r.rank <= ${CONCURRENCY_OF_AN_APP} and l.next_attempt_at <= ${at}
        order by r.rank, l.next_attempt_at limit ${CONCURRENCY - busy.length} for update of l skip locked)
      update logout_notices n set attempts = n.attempts + 1,
        next_attempt_at = ${at} + ${LEASE_SECONDS} * interval '1 second'
      from due, project_apps a where n.id = due.id and a.id = n.project_app_id
      returning n.id, n.attempts, n.user_id as "userId", n.session_id as "sessionId", a.id as "appId",
        a.client_id as "clientId", a.tenant_id as "projectId", coalesce(a.backchannel_logout_uri, '') as url`,
  );
}

async function attempt(options: Options, notice: Notice): Promise<void> {
  const { pool, services, ports } = options;
  const attemptedAt = services.clock.now();
  const outcome = notice.url === '' ? delivered : await post(options, notice);
  const { attempts: step } = notice;
  const next = nextStep({
    outcome: { ...outcome, attemptedAt },
    step,
    waitsSeconds: WAITS_SECONDS,
    random: ports.random(),
  });
  if (next.status !== 'pending') await pool.delete(logoutNotices).where(isAttempt(notice));
  else {
    const nextAttemptAt = new Date(services.clock.now().getTime() + next.waitMs);
    await pool.update(logoutNotices).set({ nextAttemptAt }).where(isAttempt(notice));
  }
}

/** The outcome of a delivered notice; also of a notice that the app no longer wants. */
const delivered = { error: null, statusCode: null, retryAfter: null };

async function post({ services, guard, ports, log }: Options, notice: Notice) {
  try {
    const token = await signLogoutToken(services, notice);
    const url = new URL(notice.url);
    const addresses = await guard.addressesOf(url);
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'Doorward-Logout/1',
    };
    const body = new URLSearchParams({ logout_token: token }).toString();
    const answer = await ports.post({ url, addresses, headers, body }, AbortSignal.timeout(TIMEOUT_MS));
    const isDone = answer.status >= 200 && answer.status <= 299;
    return {
      error: isDone ? null : 'status',
      statusCode: answer.status,
      retryAfter: answer.retryAfter,
    } as const;
  } catch (error) {
    log(error, 'an app did not take a logout token');
    return { error: 'connection', statusCode: null, retryAfter: null } as const;
  }
}

/**
 * Signs a logout token. It has no `nonce`, so it cannot pass as an id_token, and no `type`, so it is not an access
 * token.
 */
function signLogoutToken({ keyring, clock }: Options['services'], notice: Notice): Promise<string> {
  const iat = Math.floor(clock.now().getTime() / 1000);
  return keyring.signDocument(notice.projectId, 'logout+jwt', {
    sub: notice.userId,
    aud: notice.clientId,
    sid: notice.sessionId,
    jti: randomUUID(),
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    iat,
    exp: iat + TOKEN_SECONDS,
  });
}
