import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { callOrThrow, signUp } from '../../../../scripts/service.ts';
import { roleIdOf } from '../../../server/src/schema/rights/built-in-ids.ts';
import { rowsOf } from '../../../server/src/db/statements/rows.ts';
import {
  figures,
  startTwoServices,
  type TwoServices,
} from '../../../server/test/support/app/two-services.ts';
import { composeDoorward } from '../../src/doorward.ts';
import { platformClock } from '../../src/options/platform.ts';
import { TokenError } from '../../src/contracts/errors.ts';
import type { Doorward } from '../../src/client/doorward.ts';
import type { Scope } from '../../src/contracts/types.ts';

/**
 * Packages §8.3 with two real processes: rights change and keys end at one, a client decides locally from what the other
 * tells it. After `maxStalenessMs` and a second, no local answer may be older than the change, whatever happens to the way
 * between them.
 */
const adminUrl = inject('postgresUrl');
const CHANGES = Number(process.env['LOCAL_CHANGES'] ?? 16);
const REVOCATIONS = Number(process.env['LOCAL_REVOCATIONS'] ?? 8);
const AT_ONCE = 8;
const URL = 'http://doorward.test';

const ways = [
  'open',
  'cut',
  'silent',
  'clock forward',
  'clock back',
  'network cut',
  'network silent',
] as const;
type Way = (typeof ways)[number];

describe.runIf(adminUrl)('local answers of a client of another process', { timeout: 600_000 }, () => {
  let two: TwoServices;
  let token: string;
  let scope: Scope;
  let key: { readonly clientId: string; readonly clientSecret: string };
  let readers: readonly string[];
  let client: Doorward | undefined;
  const network = { way: 'open' as 'open' | 'cut' | 'silent' };

  const act = <D>(method: string, path: string, body: object = {}) =>
    callOrThrow<D>(`${two.here.base}/api${path}`, { method, token, body: { scope, ...body } });

  beforeAll(async () => {
    two = await startTwoServices(adminUrl);
    const owner = await signUp(two.here);
    token = owner.token;
    const account = { tenant: 'account', id: owner.accountId };
    const project = await callOrThrow<{ id: string }>(`${two.here.base}/api/projects`, {
      token,
      body: { scope: account, name: 'Shop' },
    });
    scope = { tenant: 'accountProject', id: `${owner.accountId}:${project.id}` };
    const made = await act<typeof key>('POST', '/api-keys', { roleId: roleIdOf('Project Admin') });
    key = { clientId: made.clientId, clientSecret: made.clientSecret };
    readers = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const { id } = await act<{ id: string }>('POST', '/users', { name: `Reader ${index}`, roleIds: [] });
        return id;
      }),
    );
  }, 120_000);
  afterEach(() => {
    client?.close();
    two.link.heal();
    network.way = 'open';
  });
  afterAll(() => two.stop());

  /** A client of `there`, whose clock and network follow the way. */
  async function clientBy(way: Way, maxStalenessMs: number): Promise<Doorward> {
    const clock = { ahead: 0 };
    const doorward = composeDoorward(
      {
        url: URL,
        allowHttp: true,
        ...key,
        scope,
        timeoutMs: 1000,
        local: { maxStalenessMs },
        consistency: 'any',
        fetch: (input, init) => {
          if (network.way === 'cut') return Promise.reject(new TypeError('cut'));
          if (network.way === 'silent') return new Promise<never>(() => undefined);
          return fetch(input.replace(URL, two.there.base), init);
        },
      },
      { clock: { ...platformClock, now: () => Date.now() + clock.ahead }, env: {} },
    );
    await doorward.ready();
    clock.ahead = way === 'clock forward' ? 3_600_000 : way === 'clock back' ? -3_600_000 : 0;
    return doorward;
  }

  async function begin(way: Way): Promise<void> {
    if (way === 'silent') two.link.silence();
    if (way === 'network cut') network.way = 'cut';
    if (way === 'network silent') network.way = 'silent';
    if (way === 'cut')
      await rowsOf(
        two.database.pool,
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'doorward changes' and datname = current_database()`,
      );
  }

  /**
   * Asks until the answer is right and none that waits may be wrong, and returns how long after the change the last
   * question with a wrong answer was sent; 0 if there was none. `isRight` of undefined: the question was not answered.
   */
  async function lastWrongMs(
    changedAt: number,
    patienceMs: number,
    ask: () => Promise<boolean | undefined>,
  ): Promise<number> {
    let last = 0;
    for (;;) {
      const startedAt = performance.now();
      const isRight = await ask();
      if (isRight === true) return last;
      if (isRight === false) last = startedAt - changedAt;
      if (startedAt - changedAt > patienceMs) return last;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it.each(ways)('%s: end with their bound', async (way) => {
    const maxStalenessMs = way === 'open' ? 5000 : 1000;
    const doorward = (client = await clientBy(way, maxStalenessMs));
    const isNetworkDown = way.startsWith('network');
    const boundMs = maxStalenessMs + 1000;
    const late: number[] = [];
    const question = 'Role:Query';
    let isReader = false;

    for (let done = 0; done < CHANGES; done += readers.length) {
      isReader = !isReader;
      const roleIds = isReader ? [roleIdOf('Project Viewer')] : [];
      if (done === 0 || !isNetworkDown) await begin(way);
      late.push(
        ...(await Promise.all(
          readers.map(async (userId) => {
            await act('PATCH', `/users/${userId}`, { roleIds });
            return lastWrongMs(performance.now(), boundMs + 500, () =>
              doorward
                .can({ userId }, question)
                .then((may) => may === isReader)
                .catch(() => undefined),
            );
          }),
        )),
      );
      if (way === 'silent') two.link.heal();
      if (isNetworkDown) break;
    }
    process.stdout.write(
      `local answers, ${way}: ${late.length} changes, last wrong answer ${figures(late)}\n`,
    );
    expect(late.filter((ms) => ms > boundMs)).toEqual([]);
    expect(late.length).toBeGreaterThanOrEqual(readers.length);
  });

  it.each(['open', 'cut', 'silent'] as const)('%s: end for tokens of a revoked key', async (way) => {
    const maxStalenessMs = way === 'open' ? 5000 : 1000;
    const doorward = (client = await clientBy(way, maxStalenessMs));
    const boundMs = maxStalenessMs + 1000;
    const late: number[] = [];
    for (let done = 0; done < REVOCATIONS; done += AT_ONCE) {
      const keys = await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          const made = await act<typeof key & { id: string; scope: Scope }>('POST', '/api-keys', {
            roleId: roleIdOf('Project Viewer'),
          });
          const { accessToken } = await callOrThrow<{ accessToken: string }>(
            `${two.here.base}/api/auth/token`,
            { body: { clientId: made.clientId, clientSecret: made.clientSecret, scope: made.scope } },
          );
          await expect(doorward.can(accessToken, 'Role:Query')).resolves.toBe(true);
          return { id: made.id, accessToken };
        }),
      );
      await begin(way);
      late.push(
        ...(await Promise.all(
          keys.map(async ({ id, accessToken }) => {
            await act('POST', `/api-keys/${id}/revoke`);
            return lastWrongMs(performance.now(), boundMs + 500, () =>
              doorward.can(accessToken, 'Role:Query').then(
                () => false,
                (error: unknown) => error instanceof TokenError || undefined,
              ),
            );
          }),
        )),
      );
      if (way === 'silent') two.link.heal();
    }
    process.stdout.write(
      `local answers, ${way}: ${late.length} revocations, last wrong answer ${figures(late)}\n`,
    );
    expect(late.filter((ms) => ms > boundMs)).toEqual([]);
  });
});
