/**
 * The main use of Doorward as a sequence of HTTP calls: `npm run demo`. It starts a service on an empty temporary
 * directory, or uses the one at DOORWARD_URL (then MAIL_FILE_DIR is the directory of its mails).
 *
 * The output is a shell script: lines that are no comments can be pasted into bash while `npm start` runs. Printed calls
 * and executed calls come from the same definitions, so they cannot differ.
 */
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { inspect } from 'node:util';
import { buildService, mailedToken, startService, type Service } from './service.ts';

/** The service gave another answer than the demo expects. */
class UnexpectedAnswer extends Error {
  override readonly name = 'Surprise';
}

interface Step {
  readonly title: string;
  /** One or two sentences about the purpose of the step. */
  readonly why: string;
  readonly path: string;
  /** JSON in which `$NAME` stands for a variable of the shell. */
  readonly body: string;
  /** Variable that holds the bearer token. */
  readonly as?: string;
  readonly status: number;
  /** Variables for later steps: name → path in the data of the answer. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Members of the answer to print. Default: all. */
  readonly show?: readonly string[];
  /** A condition that the answer must meet. */
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

/** Prints an answer with shortened tokens and without empty members. */
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

/** The shell variables of the demo. */
const variables = new Map<string, string>();
const filled = (text: string): string =>
  text.replace(/\$([A-Z_]+)/g, (_, name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new Error(`no variable ${name}`);
    return value;
  });

function at(data: unknown, place: string): string {
  const match = place
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], data);
  if (typeof match !== 'string') throw new UnexpectedAnswer(`the answer has no ${place}`);
  return match;
}

/** Quotes text for the shell, except variables, which contain no blanks or wildcards. */
const quoted = (body: string): string => `'${body.replace(/\$[A-Z_]+/g, (name) => `'${name}'`)}'`;

async function runStep(step: Step): Promise<void> {
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
    throw new UnexpectedAnswer(
      `expected ${status} and something else in it, got ${response.status}: ${text}`,
    );
  }
  for (const [name, place] of kept) variables.set(name, at(data, place));
  reveal(response.status, show ? Object.fromEntries(show.map((name) => [name, data[name]])) : data);
}

function assign(name: string, value: string, shell: string): void {
  variables.set(name, value);
  command(`${name}=${shell}`);
}

async function runDemo(base: string, mailDir: string): Promise<void> {
  const own = process.env['DOORWARD_URL'] === undefined;
  remark(
    'Doorward decides who may do what, in which scope, and why. This demo goes from sign-up to revocation.',
  );
  remark(`It runs against ${base}${own ? ', a temporary service' : ''}.`);
  remark(
    'Lines that are not comments are for bash: paste them one by one, in this folder, while `npm start` runs.',
  );
  print();
  assign('BASE', base, own ? 'http://localhost:4000' : base);
  command(`JSON='content-type: application/json'`);
  command(`pick() { node -pe "JSON.parse(process.argv[1]).data.$1" "$2"; }`);
  const now = Math.floor(Date.now() / 1000);
  assign('EMAIL', `ada-${now}@example.test`, 'ada-$(date +%s)@example.test');
  assign('PASSWORD', 'three-lanterns-in-the-harbour', 'three-lanterns-in-the-harbour');

  await runStep({
    title: 'Register',
    why: 'A user, an account of the kind that owns organizations, and a session.',
    path: '/api/auth/register',
    body: '{"provider":"email","providerId":"$EMAIL","providerData":{"password":"$PASSWORD"},"type":"organization","name":"Ada"}',
    status: 201,
    keep: { TOKEN: 'accessToken', ACCOUNT: 'accounts[0].id', USER_ID: 'user.id' },
    show: ['accessToken', 'expiresIn', 'emailVerified', 'user', 'accounts'],
  });
  await verifyAddress(mailDir);

  await runStep({
    title: 'Create an organization',
    why: 'Its creator is its first owner. Every call names its scope: a tenant and an id.',
    path: '/api/organizations',
    as: 'TOKEN',
    body: '{"scope":{"tenant":"account","id":"$ACCOUNT"},"name":"Lantern Books"}',
    status: 201,
    keep: { ORG: 'id' },
    show: ['id', 'name', 'slug', 'accountId'],
  });
  await runStep({
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
  await runStep({
    title: 'Describe a resource',
    why: 'The kind of thing that permissions are about, and what can be done with it.',
    path: '/api/resources',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"name":"Invoice","slug":"invoice","actions":["read","approve"]}',
    status: 201,
    keep: { RESOURCE: 'id' },
    show: ['id', 'name', 'slug', 'actions'],
  });
  await runStep({
    title: 'Allow an action, under a condition',
    why: 'The subject may read an invoice that they own.',
    path: '/api/permissions',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"name":"Read own invoices","resourceId":"$RESOURCE","action":"read","condition":{"Equals":{"resource.ownerId":"{{user.id}}"}}}',
    status: 201,
    keep: { PERMISSION: 'id' },
    show: ['id', 'name', 'resource', 'action', 'condition'],
  });
  await runStep({
    title: 'Bundle permissions in a group',
    why: 'A group is a bundle of permissions.',
    path: '/api/groups',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"name":"Own invoices","permissionIds":["$PERMISSION"]}',
    status: 201,
    keep: { GROUP: 'id' },
    show: ['id', 'name'],
  });
  await runStep({
    title: 'Create a role from groups',
    why: 'A role is assigned to users and API keys.',
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
  await runStep({
    title: 'Create an API key',
    why: 'It acts for Ada with the role Customer. Only this answer contains the secret, which is stored hashed.',
    path: '/api/api-keys',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"name":"bookshop backend","roleId":"$ROLE"}',
    status: 201,
    keep: { KEY: 'id', CLIENT_ID: 'clientId', CLIENT_SECRET: 'clientSecret' },
    show: ['id', 'clientId', 'clientSecret', 'scope', 'roleId', 'userId', 'status'],
  });
  const credentials = '{"clientId":"$CLIENT_ID","clientSecret":"$CLIENT_SECRET","scope":$SCOPE}';
  await runStep({
    title: 'Exchange it for a token',
    why: 'Fifteen minutes of access, signed with the key of the project.',
    path: '/api/auth/token',
    body: credentials,
    status: 200,
    keep: { KEY_TOKEN: 'accessToken' },
  });
  await runStep({
    title: 'Ask: may it read an invoice of Ada?',
    why: 'Yes: a permission matches and its condition is met.',
    path: '/api/auth/is-authorized',
    as: 'KEY_TOKEN',
    body: question('read', '$USER_ID'),
    status: 200,
    holds: ({ data }) => data?.['authorized'] === true && data['reason'] === 'ALLOWED_BY_CONDITION',
  });
  await runStep({
    title: 'Ask: may it read an invoice of another user?',
    why: 'No: a permission matches, but its condition is not met.',
    path: '/api/auth/is-authorized',
    as: 'KEY_TOKEN',
    body: question('read', 'another-user'),
    status: 200,
    holds: ({ data }) => data?.['authorized'] === false && data['reason'] === 'CONDITION_NOT_MET',
  });
  await runStep({
    title: 'Ask: may it approve one?',
    why: 'No: its role has no such permission.',
    path: '/api/auth/is-authorized',
    as: 'KEY_TOKEN',
    body: question('approve', '$USER_ID'),
    status: 200,
    holds: ({ data }) => data?.['authorized'] === false && data['reason'] === 'NO_PERMISSION',
  });
  await verifyToken();
  await runStep({
    title: 'Revoke the key',
    why: 'Revocation is final and takes effect at once.',
    path: '/api/api-keys/$KEY/revoke',
    as: 'TOKEN',
    body: '{"scope":$SCOPE,"reason":"end of the demo"}',
    status: 200,
    show: ['id', 'status', 'revokedBy', 'revokedAt', 'revokedReason'],
    holds: ({ data }) => data?.['status'] === 'revoked',
  });
  await runStep({
    title: 'Exchange it again: refused',
    why: 'The answer is the same for an unknown key, a wrong secret, a revoked and an expired key.',
    path: '/api/auth/token',
    body: credentials,
    status: 401,
    holds: ({ code }) => code === 'UNAUTHENTICATED',
  });
  await runStep({
    title: 'Ask with the token from before: refused',
    why: 'Its fifteen minutes are not over, but a token ends with its key.',
    path: '/api/auth/is-authorized',
    as: 'KEY_TOKEN',
    body: question('read', '$USER_ID'),
    status: 401,
    holds: ({ code }) => code === 'UNAUTHENTICATED',
  });
}

/** Verifies the token as any service can: with the published keys and without a call of Doorward. */
async function verifyToken(): Promise<void> {
  heading(
    'Verify the token with the published keys',
    'Any service can do this with a JWT library. It must know the issuer that it trusts, here that of this project.',
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
    throw new UnexpectedAnswer(`the token names the issuer ${iss}, not ${issuer}: is APP_URL different?`);
  const keys = createRemoteJWKSet(new URL(`${iss}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(token, keys, { issuer, audience: filled('$BASE') });
  reveal(200, payload);
}

async function main(): Promise<void> {
  const given = process.env['DOORWARD_URL']?.replace(/\/+$/, '');
  if (given) {
    const mailDir = process.env['MAIL_FILE_DIR'];
    if (!mailDir) {
      throw new UnexpectedAnswer(
        'DOORWARD_URL is set: start that service with MAIL_PROVIDER=file, and give its mail directory as MAIL_FILE_DIR.',
      );
    }
    return runDemo(given, mailDir);
  }
  let service: Service | null = null;
  try {
    await buildService();
    service = await startService();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => void service?.stop().finally(() => process.exit(130)));
    }
    await runDemo(service.base, service.mailDir);
  } catch (error) {
    const output = service?.output().trim();
    if (output) process.stderr.write(`\n# The output of the service:\n${output}\n`);
    throw error;
  } finally {
    await service?.stop();
  }
}

try {
  await main();
  print();
  print(styled(32, '# Done: all answers were as expected.'));
} catch (error) {
  const expected = error instanceof UnexpectedAnswer;
  process.stderr.write(
    `\n# Not as expected: ${expected ? error.message : String((error as Error).stack ?? error)}\n`,
  );
  process.exitCode = 1;
}
