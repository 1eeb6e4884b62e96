import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../scripts/service.ts';
import { launch } from '../../packages/server/test/browser/watched.ts';
import { useProvider } from './support/client.ts';

/**
 * mod_auth_openidc, as Debian packages it, with the issuer and the credentials alone. A person uses Chromium. Outside of the CI
 * it is left out, and named, where Apache is missing.
 */
const apache = '/usr/sbin/apache2';
const modules = '/usr/lib/apache2/modules';
const isThere = existsSync(apache) && existsSync(join(modules, 'mod_auth_openidc.so'));
if (!isThere) process.stdout.write('left out: mod_auth_openidc, because Apache or the module is missing\n');
if (!isThere && process.env['CI'])
  throw new Error('apache2 or libapache2-mod-auth-openidc is missing, which .ci/run installs');

describe.runIf(isThere)('mod_auth_openidc', () => {
  const provider = useProvider();
  let folder: string;
  let server: ChildProcess;
  let origin: string;

  beforeAll(async () => {
    const port = await freePort();
    // The cookies of the service and of the web server would be the same for one host name.
    origin = `http://localhost:${port}`;
    const client = await provider.makeApp({
      confidential: true,
      redirectUris: [`${origin}/callback`],
      postLogoutRedirectUris: [`${origin}/goodbye.html`],
    });
    folder = await mkdtemp(join(tmpdir(), 'doorward-apache-'));
    // Its worker processes belong to another user, if root starts it.
    await chmod(folder, 0o755);
    await mkdir(join(folder, 'site/private'), { recursive: true });
    await writeFile(join(folder, 'site/goodbye.html'), '<title>Goodbye</title>');
    await writeFile(
      join(folder, 'site/private/index.shtml'),
      '<p id="who"><!--#echo var="REMOTE_USER" --></p><p id="mail"><!--#echo var="OIDC_CLAIM_email" --></p>',
    );
    const config = `
ServerRoot ${folder}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
${['mpm_event', 'authz_core', 'authz_user', 'authn_core', 'auth_openidc', 'dir', 'mime', 'include', 'filter']
  .map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`)
  .join('\n')}
TypesConfig /etc/mime.types
DocumentRoot ${folder}/site
DirectoryIndex index.shtml
AddType text/html .shtml
AddOutputFilter INCLUDES .shtml
<Directory ${folder}/site>
  Options +Includes
  Require all granted
</Directory>
OIDCProviderMetadataURL ${provider.issuerOf(client)}/.well-known/openid-configuration
OIDCClientID ${client.clientId}
OIDCClientSecret ${client.clientSecret}
OIDCRedirectURI ${origin}/callback
OIDCCryptoPassphrase a-passphrase-of-the-test
OIDCScope "openid profile email"
OIDCPKCEMethod S256
OIDCRemoteUserClaim sub
OIDCPassClaimsAs environment
<Location /private>
  AuthType openid-connect
  Require valid-user
</Location>
<Location /callback>
  AuthType openid-connect
  Require valid-user
</Location>
`;
    await writeFile(join(folder, 'apache.conf'), config);
    server = spawn(apache, ['-d', folder, '-f', join(folder, 'apache.conf'), '-D', 'FOREGROUND'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await vi.waitFor(() => fetch(`${origin}/goodbye.html`), { timeout: 20_000, interval: 100 });
  }, 60_000);
  afterAll(async () => {
    if (server.exitCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('signs a person in and out', async () => {
    const browser = await launch();
    const { app, user } = provider;
    const page = await browser.newPage({ locale: 'en' });
    page.setDefaultTimeout(20_000);
    await page.goto(`${origin}/private/`);
    try {
      await page.locator('#email').fill(user.email);
      await page.locator('#email').press('Enter');
      await page.locator('input[name=code]').waitFor();
      await page.locator('input[name=code]').fill(await app.mailedCode(user.email));
      await page.locator('input[name=code]').press('Enter');
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.locator('#who').waitFor();
    } catch (error) {
      const errors = await readFile(join(folder, 'error.log'), 'utf8');
      throw new Error(`at ${page.url()}\n${await page.innerText('body')}\n${errors}`, { cause: error });
    }
    expect(page.url()).toBe(`${origin}/private/`);
    expect(await page.locator('#who').textContent()).toBe(user.userId);
    expect(await page.locator('#mail').textContent()).toBe(user.email);
    await page.goto(`${origin}/callback?logout=${encodeURIComponent(`${origin}/goodbye.html`)}`);
    await expect.poll(() => page.title()).toBe('Goodbye');
    await page.goto(`${origin}/private/`);
    // The sign-in of the browser has ended too.
    await page.locator('#email').waitFor();
    await browser.close();
  });
});
