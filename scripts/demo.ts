/**
 * The main job of Doorward as one story over HTTP: `npm run demo`. It starts a service of its own on an empty
 * temporary directory, or talks to DOORWARD_URL (then MAIL_FILE_DIR says where its mails are files).
 *
 * What it prints is a shell script: whatever is no comment can be pasted, line by line, against `npm start`. The
 * printed call and the call that was made come from the same few lines below, so they cannot differ.
 */
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { inspect } from 'node:util';
import { buildService, mailedToken, startService, type Service } from './service.ts';

/** An answer that the story did not expect. */
class Surprise extends Error {
  override readonly name = 'Surprise';
}

interface Step {
  readonly title: string;
  /** One or two sentences: what this is good for. */
  readonly why: string;
  readonly path: string;
  /** JSON in which `$NAME` stands for a variable of the shell. */
  readonly body: string;
  /** Variable that holds the bearer token. */
  readonly as?: string;
  readonly status: number;
  /** Variables for later steps: name → where it stands in the answer's data. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Members of the answer that are worth reading; the rest is left out. */
  readonly show?: readonly string[];
  /** What must hold of the answer. */
  readonly holds?: (answer: Answer) => boolean;
}

interface Answer {
  readonly data?: Record<string, unknown>;
  readonly error?: string;
  readonly code?: string;
}

const colours = process.stdout.isTTY && !process.env['NO_COLOR'];
const styled = (style: number, text: string): string => (colours ? `\x1b[${style}m${text}\x1b[0m` : text);
const print = (text = ''): void => void process.stdout.write(`${text}\n`);
const command = (text: string): void => print(styled(1, text));
const remark = (text: string): void => print(styled(2, `# ${text}`));

let number = 0;
function heading(title: string, why: string): void {
  print();
  const start = `# ── ${++number} · ${title} `;
  print(styled(36, start.padEnd(100, '─')));
  for (const line of why.split('\n')) remark(line);
}

/** An answer to look at: tokens are cut, empty members left out. */
function reveal(status: number, value: unknown): void {
  const text = inspect(shortened(value), { breakLength: 92, compact: 3, depth: 8, colors: colours });
  const [first, ...others] = text.split('\n');
  print(`${styled(2, '#')}   ${styled(status < 400 ? 32 : 33, String(status))} ${first}`);
  for (const line of others) print(`${styled(2, '#')}       ${line}`);
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return /^[\w.-]{80,}$/.test(value) ? `${value.slice(0, 24)}…` : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (value === null || typeof value !== 'object') return value;
  const full = Object.entries(value).filter(
    ([, member]) =>
      member !== null && !(typeof member === 'object' && Object.keys(member as object).length === 0),
  );
  return Object.fromEntries(full.map(([name, member]) => [name, shortened(member)]));
}

/** The story's variables, as the shell has them. */
const variables = new Map<string, string>();
const filled = (text: string): string =>
  text.replace(/\$([A-Z_]+)/g, (_, name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new Error(`no variable ${name}`);
    return value;
  });

function at(data: unknown, place: string): string {
  const found = place
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], data);
  if (typeof found !== 'string') throw new Surprise(`the answer has no ${place}`);
  return found;
}

/** In single quotes, but for the variables: none of them holds a blank or a wildcard. */
const quoted = (body: string): string => `'${body.replace(/\$[A-Z_]+/g, (name) => `'${name}'`)}'`;

async function play(step: Step): Promise<void> {
  heading(step.title, step.why);
  await ask(step);
}

async function ask({
  path,
  body,
  as,
  status,
  keep,
  show,
  holds,
}: Omit<Step, 'title' | 'why'>): Promise<void> {
  const kept = Object.entries(keep ?? {});
  const headers = `-H "$JSON"${as ? ` -H "authorization: Bearer $${as}"` : ''}`;
  const request = `curl -sS "$BASE${path}" ${headers} \\\n  -d ${quoted(body)}`;
  if (kept.length === 0) command(`${request} -w '\\n%{http_code}\\n'`);
  else command(`R=$(${request}); echo "$R"`);
  for (const [name, place] of kept) command(`${name}=$(pick '${place}' "$R")`);

  const response = await fetch(filled(`$BASE${path}`), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(as ? { authorization: `Bearer ${filled(`$${as}`)}` } : {}),
    },
    body: filled(body),
  });
  const text = await response.text();
  const answer = JSON.parse(text) as Answer;
  const { data = { error: answer.error, code: answer.code } } = answer;
  if (response.status !== status || (holds && !holds(answer))) {
    throw new Surprise(`expected ${status} and something else in it, got ${response.status}: ${text}`);
  }
  for (const [name, place] of kept) variables.set(name, at(data, place));
  reveal(response.status, show ? Object.fromEntries(show.map((name) => [name, data[name]])) : data);
}

function assign(name: string, value: string, shell: string): void {
  variables.set(name, value);
  command(`${name}=${shell}`);
}

async function tell(base: string, mailDir: string): Promise<void> {
  const own = process.env['DOORWARD_URL'] === undefined;
  remark('Doorward: who may do what, here, now, and why. The whole story, from sign-up to revoke.');
  remark(`Played against ${base}${own ? ', a service of its own that is gone afterwards' : ''}.`);
  remark('What is no comment is for bash: paste it line by line, from this folder, while `npm start` runs.');
  print();
  assign('BASE', base, own ? 'http://localhost:4000' : base);
  command(`JSON='content-type: application/json'`);
  command(`pick() { node -pe "JSON.parse(process.argv[1]).data.$1" "$2"; }`);
  const now = Math.floor(Date.now() / 1000);
  assign('EMAIL', `ada-${now}@example.test`, 'ada-$(date +%s)@example.test');
  assign('PASSWORD', 'three-lanterns-in-the-harbour', 'three-lanterns-in-the-harbour');

  await play({
    title: 'Register',
    why: 'A user, an account of the kind that owns organizations, and a session.',
    path: '/api/auth/register',
    body: '{"provider":"email","providerId":"$EMAIL","providerData":{"password":"$PASSWORD"},"type":"organization","name":"Ada"}',
    status: 201,
    keep: { TOKEN: 'accessToken', ACCOUNT: 'accounts[0].id', USER_ID: 'user.id' },
    show: ['accessToken', 'expiresIn', 'emailVerified', 'user', 'accounts'],
  });
  await verifyAddress(mailDir);

  await play({
    title: 'Create an organization',
    why: 'Its creator is its first owner. Every call names its scope: a tenant and an id.',
    path: '/api/organizations',
    as: 'TOKEN',
    body: '{"scope":{"tenant":"account","id":"$ACCOUNT"},"name":"Lantern Books"}',
    status: 201,
    keep: { ORG: 'id' },
    show: ['id', 'name', 'slug', 'accountId'],
  });
  await play({
    title: 'Create a project',
    why: 'A project is what a product of yours asks about. It gets signing keys of its own.',
    path: '/api/projects',
    as: 'TOKEN',
    body: '{"scope":{"tenant":"organization","id":"$ORG"},"name":"Bookshop"}',
    status: 201,
    keep: { PROJECT: 'id' },
    show: ['id', 'name', 'slug', 'scope'],
  });
  remark('From here on everything happens in the scope of that project.');
  const scope = '{"tenant":"organizationProject","id":"$ORG:$PROJECT"}';
  assign('SCOPE', filled(scope), quoted(scope));
  await defineAccess();
  await useKey();
}

async function verifyAddress(mailDir: string): Promise<void> {
  heading(
    'Verify the address',
    'The token comes by mail, never in an answer. `npm start` prints its mails: copy what follows token= in the link.\n' +
      'With MAIL_PROVIDER=file mails are files in MAIL_FILE_DIR, where it is found without copying. It works once.',
  );
  command(
    `VERIFICATION=$(cat "\${MAIL_FILE_DIR:-data/mail}"/*.eml 2>/dev/null | grep -o 'token=[A-Za-z0-9_-]*' | tail -1 | cut -d= -f2)`,
  );
  command(`[ -n "$VERIFICATION" ] || read -r -p 'token in the mail: ' VERIFICATION`);
  variables.set('VERIFICATION', await mailedToken(mailDir, filled('$EMAIL')));
  await ask({ path: '/api/auth/verify-email', body: '{"token":"$VERIFICATION"}', status: 200 });
}

/** resource → permission → group → role */
async function defineAccess(): Promise<void> {
  await play({
    title: 'Describe a resource',
    why: 'The kind of thing that permissions are about, and what can be done with it.',
    path: '/api/resources',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"name":"Invoice","slug":"invoice","actions":["read","approve"]}',
    status: 201,
    keep: { RESOURCE: 'id' },
    show: ['id', 'name', 'slug', 'actions'],
  });
  await play({
    title: 'Allow an action, under a condition',
    why: 'Who asks may read an invoice if it is his own.',
    path: '/api/permissions',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"name":"Read own invoices","resourceId":"$RESOURCE","action":"read","condition":{"Equals":{"resource.ownerId":"{{user.id}}"}}}',
    status: 201,
    keep: { PERMISSION: 'id' },
    show: ['id', 'name', 'resource', 'action', 'condition'],
  });
  await play({
    title: 'Bundle permissions in a group',
    why: 'A group is a bundle of permissions.',
    path: '/api/groups',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"name":"Own invoices","permissionIds":["$PERMISSION"]}',
    status: 201,
    keep: { GROUP: 'id' },
    show: ['id', 'name'],
  });
  await play({
    title: 'Make a role of groups',
    why: 'A role is what users and keys wear.',
    path: '/api/roles',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"name":"Customer","groupIds":["$GROUP"]}',
    status: 201,
    keep: { ROLE: 'id' },
    show: ['id', 'name', 'level'],
  });
}

const question = (action: string, ownerId: string): string =>
  `{"permission":{"resource":"invoice","action":"${action}"},"context":{"resource":{"ownerId":"${ownerId}"}}}`;

async function useKey(): Promise<void> {
  await play({
    title: 'Create an API key',
    why: 'It acts for Ada with the role Customer. The secret is answered this once and stored hashed.',
    path: '/api/api-keys',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"name":"bookshop backend","roleId":"$ROLE"}',
    status: 201,
    keep: { KEY: 'id', CLIENT_ID: 'clientId', CLIENT_SECRET: 'clientSecret' },
    show: ['id', 'clientId', 'clientSecret', 'scope', 'roleId', 'userId', 'status'],
  });
  const credentials = '{"clientId":"$CLIENT_ID","clientSecret":"$CLIENT_SECRET","scope":$SCOPE}';
  await play({
    title: 'Exchange it for a token',
    why: 'Fifteen minutes of access, signed with the key of the project.',
    path: '/api/auth/token',
    body: credentials,
    status: 200,
    keep: { KEY_TOKEN: 'accessToken' },
  });
  await play({
    title: 'Ask: may it read an invoice of Ada?',
    why: 'Yes: a permission matches and its condition is met.',
    path: '/api/auth/is-authorized',
    as: 'KEY_TOKEN',
    body: question('read', '$USER_ID'),
    status: 200,
    holds: ({ data }) => data?.['authorized'] === true && data['reason'] === 'ALLOWED_BY_CONDITION',
  });
  await play({
    title: 'Ask: may it read an invoice of somebody else?',
    why: 'No: the permission matches, its condition is not met.',
    path: '/api/auth/is-authorized',
    as: 'KEY_TOKEN',
    body: question('read', 'somebody-else'),
    status: 200,
    holds: ({ data }) => data?.['authorized'] === false && data['reason'] === 'CONDITION_NOT_MET',
  });
  await play({
    title: 'Ask: may it approve one?',
    why: 'No: nothing that it holds says so.',
    path: '/api/auth/is-authorized',
    as: 'KEY_TOKEN',
    body: question('approve', '$USER_ID'),
    status: 200,
    holds: ({ data }) => data?.['authorized'] === false && data['reason'] === 'NO_PERMISSION',
  });
  await verifyToken();
  await play({
    title: 'Revoke the key',
    why: 'For good, and at once.',
    path: '/api/api-keys/$KEY/revoke',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"reason":"end of the story"}',
    status: 200,
    show: ['id', 'status', 'revokedBy', 'revokedAt', 'revokedReason'],
    holds: ({ data }) => data?.['status'] === 'revoked',
  });
  await play({
    title: 'Exchange it again: refused',
    why: 'The same words for an unknown key, a wrong secret, a revoked and an expired one.',
    path: '/api/auth/token',
    body: credentials,
    status: 401,
    holds: ({ code }) => code === 'UNAUTHENTICATED',
  });
  await play({
    title: 'Ask with the token from before: refused',
    why: 'It is still within its fifteen minutes, and ended with its key all the same.',
    path: '/api/auth/is-authorized',
    as: 'KEY_TOKEN',
    body: question('read', '$USER_ID'),
    status: 401,
    holds: ({ code }) => code === 'UNAUTHENTICATED',
  });
}

/** As a service would that was handed the token: with the published keys, without asking Doorward. */
async function verifyToken(): Promise<void> {
  heading(
    'Verify the token with the published keys',
    'Any service can, with any JWT library. It must know the issuer that it trusts: here the one of this project.',
  );
  assign('ISSUER', filled('$BASE/org/$ORG/prj/$PROJECT'), '$BASE/org/$ORG/prj/$PROJECT');
  command(`curl -sS "$ISSUER/.well-known/jwks.json"; echo`);
  command(
    [
      `node --input-type=module -e '`,
      `  import { createRemoteJWKSet, jwtVerify } from "jose";`,
      `  const [token, issuer, audience] = process.argv.slice(1);`,
      `  const keys = createRemoteJWKSet(new URL(issuer + "/.well-known/jwks.json"));`,
      `  console.log((await jwtVerify(token, keys, { issuer, audience })).payload);`,
      `' "$KEY_TOKEN" "$ISSUER" "$BASE"`,
    ].join('\n'),
  );
  const token = filled('$KEY_TOKEN');
  const issuer = filled('$ISSUER');
  const { iss } = decodeJwt(token);
  if (iss !== issuer)
    throw new Surprise(`the token names the issuer ${iss}, not ${issuer}: is APP_URL another?`);
  const keys = createRemoteJWKSet(new URL(`${iss}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(token, keys, { issuer, audience: filled('$BASE') });
  reveal(200, payload);
}

async function main(): Promise<void> {
  const given = process.env['DOORWARD_URL']?.replace(/\/+$/, '');
  if (given) {
    const mailDir = process.env['MAIL_FILE_DIR'];
    if (!mailDir) {
      throw new Surprise(
        'DOORWARD_URL is set: start that service with MAIL_PROVIDER=file, and give its mail directory as MAIL_FILE_DIR.',
      );
    }
    return tell(given, mailDir);
  }
  let service: Service | null = null;
  try {
    await buildService();
    service = await startService();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => void service?.stop().finally(() => process.exit(130)));
    }
    await tell(service.base, service.mailDir);
  } catch (error) {
    const said = service?.output().trim();
    if (said) process.stderr.write(`\n# The service said:\n${said}\n`);
    throw error;
  } finally {
    await service?.stop();
  }
}

try {
  await main();
  print();
  print(styled(32, '# Done: everything was answered as expected.'));
} catch (error) {
  const expected = error instanceof Surprise;
  process.stderr.write(
    `\n# Not as expected: ${expected ? error.message : String((error as Error).stack ?? error)}\n`,
  );
  process.exitCode = 1;
}
