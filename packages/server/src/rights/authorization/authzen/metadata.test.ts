import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../../test/support/app/app.ts';
import { pathOf } from '../../../../test/support/tenants/authzen.ts';
import { firmOf, type Firm } from '../../../../test/support/tenants/firm.ts';

/** What a client reads before it asks (authzen §1). */
let app: TestApp;
let firm: Firm;

beforeAll(async () => {
  app = await startApp({ APP_URL: 'https://auth.example.com' });
  firm = await firmOf(app);
});
afterAll(() => app.close());

const read = (path: string, headers: Record<string, string> = {}) =>
  app.server.inject({ url: `/.well-known/authzen-configuration${path}`, headers });

const documentOf = (path: string) => {
  const pdp = `https://auth.example.com${path}`;
  return {
    policy_decision_point: pdp,
    access_evaluation_endpoint: `${pdp}/access/v1/evaluation`,
    access_evaluations_endpoint: `${pdp}/access/v1/evaluations`,
    search_subject_endpoint: `${pdp}/access/v1/search/subject`,
    search_action_endpoint: `${pdp}/access/v1/search/action`,
  };
};

describe('the metadata', () => {
  it('is a function of the address alone', async () => {
    const upper = `/org/${randomUUID().toUpperCase()}/prj/${randomUUID().toUpperCase()}`;
    const nobody = `/acc/${randomUUID()}/prj/${randomUUID()}`;
    for (const path of ['', pathOf(firm.project), nobody, upper]) {
      const answer = await read(path, { host: 'evil.example', 'x-forwarded-host': 'evil.example' });
      expect(answer.statusCode, path).toBe(200);
      expect(answer.json()).toEqual(documentOf(path));
      expect(answer.headers).toMatchObject({
        'cache-control': 'public, max-age=300',
        'content-type': 'application/json; charset=utf-8',
        'access-control-allow-origin': '*',
      });
    }
  });

  it('is read without the database', async () => {
    for (const path of ['', pathOf(firm.project)]) expect(await app.spent(() => read(path))).toEqual([]);
  });

  it('is not changed for a client that has it', async () => {
    const { headers } = await read(pathOf(firm.project));
    const again = await read(pathOf(firm.project), { 'if-none-match': String(headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  it('exists for addresses of projects only', async () => {
    const id = randomUUID();
    for (const path of [
      `/org/${id}/prj/x`,
      `/acc/x/prj/${id}`,
      `/org/${id}`,
      `/prj/${id}`,
      `/org/${id}/prj/${id}/`,
      `/org/${id}/prj/${id}/access`,
      `/org/${id}/prj/%2e%2e`,
      `/org//prj/${id}`,
    ]) {
      const { statusCode, json } = await read(path);
      expect([statusCode, json<{ code: string }>().code], path).toEqual([404, 'NOT_FOUND']);
    }
  });
});
