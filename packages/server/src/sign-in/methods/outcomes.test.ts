import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique } from '../../../test/support/app/client.ts';
import { startOpenidProvider, type OpenidDouble } from '../../../test/support/sign-in/openid-provider.ts';
import {
  appInProject,
  projectViewer,
  signInBrowser,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { users } from '../../schema/people/user.ts';
import { withoutFlow } from '../../../test/support/app/visitor.ts';

/**
 * What each way to sign in leads to, for each kind of person: the table "Outcomes" of docs/spec/sign-in-methods.md, which is
 * what this test expects.
 */
const document = readFileSync(
  join(import.meta.dirname, '../../../../../docs/spec/sign-in-methods.md'),
  'utf8',
);
const rows = /## \d+\. Outcomes\n[^|]*((?:\|.*\n)+)/
  .exec(document)?.[1]
  ?.trim()
  .split('\n')
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const [head = [], , ...table] = rows ?? [];
const [, ...ways] = head;

let app: TestApp;
let provider: OpenidDouble;
/** Offers every way, and anyone may sign up. */
let open: AppInProject;

beforeAll(async () => {
  provider = await startOpenidProvider();
  app = await startApp({
    AUTH_REGISTRATION_MODE: 'immediate',
    SECURITY_RATE_LIMIT_MAIL_MAX: '20',
    IDENTITY_PROVIDERS: JSON.stringify([provider.entry]),
    FEDERATION_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
  });
  open = await appInProject(app, {
    enabledProviders: ['email', 'password'],
    identityProviders: ['acme'],
    allowSignUp: true,
    signUpRoleId: projectViewer,
  });
});
afterAll(async () => {
  await app.close();
  await provider.close();
});

interface Subject {
  readonly email: string;
  readonly password: string;
}

const stranger = (): Subject => ({
  email: `visitor-${unique()}@example.test`,
  password: 'four green kettles sing',
});

const people: Record<string, () => Promise<Subject>> = {
  new: () => Promise.resolve(stranger()),
  known: () => app.person(),
  unverified: () => app.person({ verified: false }),
  disabled: async () => {
    const person = await app.person();
    await app.database.pool.update(users).set({ status: 'disabled' }).where(eq(users.id, person.userId));
    return person;
  },
  'locked out': async () => {
    const person = await app.person();
    const providerData = { password: 'a wrong password' };
    for (let i = 0; i < 10; i += 1) {
      await app.call('login', { provider: 'email', providerId: person.email, providerData });
    }
    return person;
  },
};

type Step = (browser: SignInBrowser, subject: Subject) => Promise<LightMyRequestResponse>;

const byMail =
  (request: string, enter: string, more: Record<string, string> = {}): Step =>
  async (browser, { email }) => {
    await browser.post(request, { email });
    return browser.post(enter, { code: await app.mailedCode(email), ...more });
  };

const steps: Record<string, Step> = {
  'Right password': (browser, subject) => browser.post('/api/auth/flow/password', { ...subject }),
  'Right code': byMail('/api/auth/project/email/request', '/api/auth/flow/email/code'),
  'New password, right code': byMail('/api/auth/flow/reset/request', '/api/auth/flow/reset', {
    newPassword: 'six other words stand here',
  }),
  'Provider vouches for the address': async (browser, { email }) => {
    provider.person = provider.newPerson({ email });
    const begun = await browser.get('/api/auth/project/providers/acme');
    return browser.get(await provider.visit(String(begun.headers.location)));
  },
};

const texts: readonly (readonly [string, string])[] = [
  ['Address or password is wrong', 'wrong'],
  ['This code is wrong', 'wrong code'],
  ['Check your e-mail', 'code first'],
  ['Your password has been changed', 'changed'],
  ['There is no account with this address', 'no account'],
];

/** What the person sees, in the words of the table. */
async function outcomeOf(browser: SignInBrowser, answer: LightMyRequestResponse): Promise<string> {
  const location = String(answer.headers.location ?? '');
  if (location.endsWith('/consent')) return 'consent';
  if (location.includes('error=access_denied')) return 'denied';
  const { body } = await browser.page();
  return texts.find(([text]) => body.includes(text))?.[1] ?? `another page: ${body}`;
}

it('the table has every kind of person and every way', () => {
  expect(table.map(([person]) => person)).toEqual(Object.keys(people));
  expect(ways).toEqual(Object.keys(steps));
});

describe.each(table.map(([person = '', ...outcomes]) => ({ person, outcomes })))(
  '$person',
  ({ person, outcomes }) => {
    let browser: SignInBrowser;
    beforeEach(async () => {
      browser = signInBrowser(app, open);
      await browser.authorize({ prompt: 'login' });
    });

    it.each(ways.map((way, index) => ({ way, outcome: outcomes[index] })))(
      '$way: $outcome',
      async ({ way, outcome }) => {
        const subject = await (people[person] as () => Promise<Subject>)();
        const answer = await (steps[way] as Step)(browser, {
          email: subject.email,
          password: subject.password,
        });
        expect(await outcomeOf(browser, answer)).toBe(outcome);
      },
    );
  },
);

describe('before a code or password is entered', () => {
  it.each([
    ['/api/auth/flow/identifier', {}],
    ['/api/auth/project/email/request', {}],
    ['/api/auth/flow/reset/request', {}],
    ['/api/auth/flow/sign-up', { name: 'Grace', password: 'four green kettles sing' }],
    ['/api/auth/flow/password', { password: 'a wrong password' }],
  ])('%s shows the same page for every address', async (path, more) => {
    const seen = [];
    for (const make of Object.values(people)) {
      const { email } = await make();
      const browser = signInBrowser(app, open);
      await browser.authorize({ prompt: 'login' });
      const { statusCode, headers } = await browser.post(path, { email, ...more });
      const { body } = await browser.page();
      seen.push([
        statusCode,
        headers.location,
        withoutFlow(body)
          .replaceAll(email, '')
          .replaceAll(/value="[\w-]{43}"/g, ''),
      ]);
    }
    for (const page of seen) expect(page).toEqual(seen[0]);
  });
});
