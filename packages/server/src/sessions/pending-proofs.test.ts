import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import { unique, type Person } from '../../test/support/app/client.ts';
import { startGithub, type GithubDouble } from '../../test/support/sign-in/github.ts';
import {
  appInProject,
  projectViewer,
  signInBrowser,
  redirectParameters,
  type AppInProject,
} from '../../test/support/sign-in/project-app.ts';
import { visitor } from '../../test/support/app/visitor.ts';

/** Proofs obtained with the old password are rejected after it was replaced. */
let app: TestApp;
let github: GithubDouble;
let person: Person;
let to: AppInProject;
beforeAll(async () => {
  github = await startGithub();
  app = await startApp(github.env);
});
afterAll(async () => {
  await app.close();
  await github.close();
});
beforeEach(async () => {
  person = await app.person();
  to = await appInProject(app, { allowSignUp: true, signUpRoleId: projectViewer });
  github.account = github.newAccount({ emails: [{ email: person.email, primary: true, verified: true }] });
});

/** Brings a command line to the consent page. */
async function commandLine() {
  const codeVerifier = randomBytes(32).toString('base64url');
  const browser = visitor(app.server);
  await browser.signIn(github, {
    redirect: 'http://127.0.0.1:8976/done',
    state: randomBytes(8).toString('hex'),
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const page = await browser.get('/hosted/cli-sign-in');
  const formToken = /name="formToken" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const approve = () => browser.post('/api/auth/cli/confirm', { decision: 'approve', formToken });
  return {
    approve,
    codeIn: async () => redirectParameters(await approve())['code'] ?? '',
    exchange: (code: string) => app.call('exchangeCliCode', { code, codeVerifier }),
  };
}

/** Brings an app to the consent page. */
async function projectApp() {
  const browser = signInBrowser(app, to);
  await browser.toConsent(person.email);
  const consent_token = await browser.formToken();
  const approve = () => browser.post('/api/auth/project/consent/approve', { consent_token });
  return {
    approve,
    codeIn: async () => redirectParameters(await approve())['code'] ?? '',
    exchange: (code: string) =>
      app.raw('projectToken', {
        grant_type: 'authorization_code',
        client_id: to.clientId,
        code,
        redirect_uri: to.redirectUri,
        code_verifier: browser.verifier,
      }),
  };
}

const newPassword = () => `another horse ${unique()}`;
const ways = {
  'a reset of the password': async () => {
    await app.must('requestPasswordReset', { email: person.email });
    const token = await app.mailedToken(person.email);
    await app.must('resetPassword', { token, newPassword: newPassword() });
  },
  'a change of the password': async () => {
    const input = { currentPassword: person.password, newPassword: newPassword() };
    await app.must('changeMyPassword', input, { token: person.token });
  },
  'the end of the user': () => app.must('deleteMe', {}, { token: person.token }),
};

describe.each(Object.entries(ways))('%s', (_, end) => {
  test.each([
    ['command line', commandLine],
    ['app', projectApp],
  ])('ends what waits for it: a code and a question of the %s', async (__, begin) => {
    const [atQuestion, withCode] = [await begin(), await begin()];
    const code = await withCode.codeIn();
    expect(code).not.toBe('');
    await end();
    expect((await atQuestion.approve()).statusCode).toBe(400);
    expect((await withCode.exchange(code)).code).toBe('INVALID_TOKEN');
  });
});
