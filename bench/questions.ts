import { createHash, randomBytes } from 'node:crypto';
import { must } from '../scripts/service.ts';
import { hashOneTimeToken, newOneTimeToken } from '../src/crypto/one-time-token.ts';
import { newKey, newProject, type Project } from './fill.ts';
import { measure, ratioOf, type Load } from './measure.ts';
import { startEcho } from './references.ts';
import type { Setting } from './setting.ts';

/** is-authorized: each kind of token, each kind of answer, beside an echo of the same sizes. */
type Outcome = 'allowed' | 'refused' | 'conditional';

const REASON: Readonly<Record<Outcome, string>> = {
  allowed: 'ALLOWED',
  refused: 'NO_PERMISSION',
  conditional: 'ALLOWED_BY_CONDITION',
};
const ACTION: Readonly<Record<Outcome, string>> = { allowed: 'list', refused: 'pay', conditional: 'read' };

export const question = (project: Pick<Project, 'scope'>, outcome: Outcome, userId: string) => ({
  permission: { resource: 'invoice', action: ACTION[outcome] },
  ...(outcome === 'conditional' && { context: { resource: { ownerId: userId } } }),
  scope: project.scope,
});

/** Rows `is-authorized`, `is-authorized-by-token` and `batch`. */
export async function questionRows(setting: Setting, where: string): Promise<void> {
  const { service, post, ada, pace, wanted, found, database } = setting;
  if (!['is-authorized', 'is-authorized-by-token', 'batch'].some(wanted)) return;
  const project = await newProject(post, ada, 'Asked');
  const key = await newKey(post, project);
  const { accessToken } = await must<{ accessToken: string }>(`${service.base}/api/auth/token`, {
    body: key,
  });
  const load = (token: string, body: object, path = 'auth/is-authorized'): Load => ({
    url: `${service.base}/api/${path}`,
    headers: { authorization: `Bearer ${token}` },
    bodies: [JSON.stringify(body)],
    pids: [service.pid],
    database: database?.url,
  });
  const asking = async (token: string, outcome: Outcome): Promise<{ load: Load; answer: string }> => {
    const asked = load(token, question(project, outcome, ada.userId));
    return { load: asked, answer: await sample(asked, REASON[outcome]) };
  };

  if (wanted('is-authorized')) {
    const asked = await asking(accessToken, 'conditional');
    const echo = await startEcho(Buffer.byteLength(asked.answer));
    try {
      const loads = [{ ...asked.load, url: echo.url, pids: [echo.pid], database: undefined }, asked.load];
      const [bare, measured] = await measure(loads, pace);
      if (!bare || !measured) return;
      const what = `is-authorized, ${where}`;
      if (database) found({ row: 'echo', what: 'a bare Fastify echo of the same sizes', ...bare });
      found({
        row: 'is-authorized',
        what: `${what}: key, condition met`,
        ...measured,
        goal: {
          what,
          against: 'requests a second of a bare Fastify echo',
          value: ratioOf(measured, bare),
          unit: '',
          bound: 0.7,
          is: 'at least',
        },
      });
    } finally {
      await echo.stop();
    }
  }

  if (wanted('is-authorized-by-token') && database) {
    const tokens = { session: ada.token, key: accessToken, app: await appToken(setting, project) };
    const loads: { what: string; load: Load }[] = [];
    for (const [kind, token] of Object.entries(tokens)) {
      for (const outcome of ['allowed', 'refused', 'conditional'] as const) {
        const { load } = await asking(token, outcome);
        loads.push({ what: `is-authorized: ${kind} token, ${outcome}`, load });
      }
    }
    const measured = await measure(
      loads.map(({ load }) => load),
      pace,
    );
    loads.forEach(({ what }, place) => found({ row: 'is-authorized-by-token', what, ...measured[place] }));
  }

  if (wanted('batch') && database) {
    const item = ({ permission, context }: ReturnType<typeof question>) => ({ permission, context });
    const outcomes = ['allowed', 'refused', 'conditional'] as const;
    const items = Array.from({ length: 100 }, (_, n) =>
      item(question(project, outcomes[n % 3] ?? 'allowed', ada.userId)),
    );
    const batch = load(accessToken, { items, scope: project.scope }, 'auth/is-authorized/batch');
    const [measured] = await measure([{ ...batch, connections: 16 }], pace);
    found({ row: 'batch', what: 'is-authorized, batch of 100', ...measured });
  }
}

/** The answer as it comes. @throws when it is not for that reason: then something else would be measured */
async function sample({ url, headers = {}, bodies = [] }: Load, reason: string): Promise<string> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  const answer = await (await fetch(url, { ...request, body: bodies[0] ?? '' })).text();
  if (!answer.includes(`"reason":"${reason}"`)) throw new Error(`not ${reason}, but ${answer}`);
  return answer;
}

const SCOPES = Object.values(ACTION).map((action) => `invoice:${action}`);

/** Of a user who consented, whose code is written as the pages would write it. */
async function appToken({ service, ada, database }: Setting, { scope }: Project): Promise<string> {
  const redirectUri = 'https://app.example/callback';
  const body = { scope, name: 'App', redirectUris: [redirectUri], scopes: SCOPES };
  const app = await must<{ id: string; clientId: string; clientSecret: string | null }>(
    `${service.base}/api/project-apps`,
    { token: ada.token, body },
  );
  const code = newOneTimeToken();
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  await database?.tables.query(
    `insert into project_codes (hash, app_id, user_id, redirect_uri, challenge, scopes, acr, amr, authenticated_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, 'aal1', '{fed}', now(), now() + interval '1 minute')`,
    [hashOneTimeToken(code), app.id, ada.userId, redirectUri, challenge, SCOPES],
  );
  const { accessToken } = await must<{ accessToken: string }>(`${service.base}/api/auth/project/token`, {
    body: {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id: app.clientId,
      ...(app.clientSecret === null ? {} : { client_secret: app.clientSecret }),
    },
  });
  return accessToken;
}
