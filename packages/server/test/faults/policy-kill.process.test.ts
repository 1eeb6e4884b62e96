/**
 * kill -9 while a policy is applied: after the restart all of its rows are there or none of them, and they are those of the
 * last version. On the embedded database, or on PostgreSQL when TEST_DATABASE_URL is set.
 */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  buildService,
  call,
  callOrThrow,
  signUp,
  startService,
  type Service,
} from '../../../../scripts/service.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';

const ROUNDS = Number(process.env['POLICY_KILLS'] ?? 2);
const ROLES = 60;

let directory: string;
let postgres: TestDatabase | undefined;
let service: Service;

const start = async (): Promise<Service> =>
  startService({
    dataDir: join(directory, 'data'),
    env: {
      SECURITY_RATE_LIMIT_ENABLED: 'false',
      APP_URL: 'http://doorward.test',
      JWT_ACCESS_TOKEN_EXPIRATION_MINUTES: '60',
      ...(postgres ? { DATABASE_URL: postgres.url } : {}),
    },
  });

beforeAll(async () => {
  await buildService();
  directory = await mkdtemp(join(tmpdir(), 'doorward-policy-kill-'));
  if (inject('postgresUrl') !== '') postgres = await postgresDatabase(inject('postgresUrl'), null);
  service = await start();
});
afterAll(async () => {
  await service.kill();
  await postgres?.drop();
  await rm(directory, { recursive: true, force: true });
});

/** A policy of which every row differs from that of another number. */
function policyOf(number: number): object {
  const names = Array.from(
    { length: ROLES },
    (_, index) => `${index % 2 === 0 ? 'Stays' : `Of ${number % 3}`} ${index}`,
  );
  const groups = names.map((name) => [
    name,
    { permissions: ['Tag:Query'], description: `Version ${number}` },
  ]);
  const roles = names.map((name) => [name, { groups: [name], description: `Version ${number}` }]);
  return {
    version: 1,
    groups: Object.fromEntries(groups) as object,
    roles: Object.fromEntries(roles) as object,
  };
}

interface State {
  readonly version: string;
  readonly number: number | null;
}

test(
  `a policy is applied whole, or not at all (${ROUNDS} kills)`,
  async () => {
    const { token, accountId } = await signUp(service, 'policy');
    const body = { scope: { tenant: 'account', id: accountId }, name: 'Shop' };
    const project = await callOrThrow<{ id: string; scope: object }>(`${service.base}/api/projects`, {
      token,
      body,
    });
    const query = `tenant=accountProject&scopeId=${accountId}:${project.id}`;
    const path = () => `${service.base}/api/projects/${project.id}/policy`;
    const stateNow = () => callOrThrow<State>(`${path()}?${query}`, { token });
    let number = 0;
    let interrupted = 0;

    /** Applies one policy after the other until the service is down. @returns the number of the last acknowledged version */
    async function applyUntilKilled(state: State): Promise<number> {
      let last = state.number ?? 0;
      let ifVersion = state.number === null ? null : state.version;
      for (;;) {
        const application = {
          scope: project.scope,
          policy: policyOf(++number),
          ifVersion,
          allowDelete: true,
        };
        const answer = await call<{ version: string; applied: { number: number } }>(`${path()}/apply`, {
          token,
          body: application,
        }).catch(() => null);
        if (!answer) return last;
        expect(answer.status, answer.text).toBe(201);
        last = answer.data.applied.number;
        ifVersion = answer.data.version;
      }
    }

    for (let round = 0; round < ROUNDS; round++) {
      const state = await stateNow();
      const [acknowledged] = await Promise.all([
        applyUntilKilled(state),
        sleep(randomInt(300, 1500)).then(() => service.kill()),
      ]);
      service = await start();
      const after = await stateNow();
      // The last one may have been committed although its answer was lost.
      expect([acknowledged, acknowledged + 1]).toContain(after.number ?? 0);
      if ((after.number ?? 0) > acknowledged) interrupted++;
      if (after.number === null) continue;
      const difference = await callOrThrow<{ changes: unknown[] }>(
        `${path()}/diff?${query}&from=${after.number}&to=current`,
        { token },
      );
      expect(difference.changes).toEqual([]);
    }
    process.stdout.write(`policy applications committed without an answer: ${interrupted} of ${ROUNDS}\n`);
  },
  120_000 + ROUNDS * 15_000,
);
