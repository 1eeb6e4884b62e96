import { execFileSync } from 'node:child_process';
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Takes the pictures of the documentation from the real pages: npm run pictures. The browser tests photograph each page that they
 * check, and this copies some of the photographs. It needs Chromium, as these tests do.
 */
const root = join(import.meta.dirname, '..');
const LARGEST_BYTES = 150_000;

/** The name in docs/pictures, by the name of the photograph. */
const pictures: Readonly<Record<string, string>> = {
  'sign-in-password-light': 'sign-in',
  'methods-light': 'sign-in-password',
  'passkey-methods-light': 'sign-in-passkey',
  'sign-up-light': 'sign-in-sign-up',
  'mailed-light': 'sign-in-mailed',
  'organization-light': 'sign-in-organization',
  'second-factor-light': 'sign-in-second-factor',
  'consent-light': 'sign-in-consent',
  'consent-dark': 'sign-in-consent-dark',
  'provider-failed-light': 'sign-in-error',
  'enrolment-light': 'sign-in-enrolment',
  'enrolment-codes-light': 'sign-in-recovery-codes',
  'company-light': 'sign-in-company',
  'company-required-light': 'sign-in-company-required',
  'account-passkeys-light': 'account-passkeys',
  'account-sessions-light': 'account-sessions',
  'console-app-preview': 'console-app-preview',
  'console-organization-branding-light': 'console-organization-branding',
  ...Object.fromEntries(
    ['overview', 'role', 'why', 'audit', 'phone', 'dark'].map((name) => [
      `console-${name}`,
      `console-${name}`,
    ]),
  ),
};
const tests = [
  'packages/server/test/browser/sign-in-pages.test.ts',
  'packages/server/test/browser/account.test.ts',
  'packages/console/test/browser/tenants/branding.test.ts',
  'packages/console/test/browser/pictures.test.ts',
];

const photographs = await mkdtemp(join(tmpdir(), 'doorward-pictures-'));
const options = ['--config', 'vitest.browser.config.ts', '--project', 'browser'];
execFileSync('npx', ['vitest', 'run', ...options, ...tests], {
  cwd: root,
  stdio: 'inherit',
  // Some pictures need a look that the rotation doesn't give the page.
  env: { ...process.env, PAGES_SCREENSHOTS: photographs, BROWSER_LOOKS: 'all' },
});
for (const [photograph, picture] of Object.entries(pictures)) {
  const from = join(photographs, `${photograph}.png`);
  const { size } = await stat(from);
  if (size > LARGEST_BYTES) throw new Error(`${photograph} has ${size} bytes: choose a smaller page`);
  await copyFile(from, join(root, 'docs/pictures', `${picture}.png`));
}
await rm(photographs, { recursive: true });
process.stdout.write(`${Object.keys(pictures).length} pictures in docs/pictures\n`);
