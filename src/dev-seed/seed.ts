import { DemoRefused, must, type Ask } from './front-door.ts';
import { keptFile, newPassword, readKept, writeKept, type DemoKey, type Kept } from './kept.ts';
import { DEMO_ADDRESS } from './mailbox.ts';
import { pasteable, reasonFor, RESOURCE } from './request.ts';
import { signIn, type DemoSession } from './sign-in.ts';

/**
 * DEV_SEED: something to ask about, for whoever has just started a service for development. Everything is found by its
 * name or made, so a start that was interrupted is carried on by the next one. While the key of an earlier start works,
 * nothing is touched at all: what the developer changed since is his, and the request is printed with what it answers.
 */
export interface DevSeedOptions {
  readonly ask: Ask;
  readonly nextToken: () => Promise<string>;
  readonly dataDir: string;
  /** As the caller of the printed request sees the service. */
  readonly base: string;
  /** To the terminal and never to the log: it holds the secret of the key. */
  readonly print: (text: string) => void;
}

const ORGANIZATION = 'Lantern Books';
const PROJECT = 'Bookshop';
const KEY = 'Demo key';

/**
 * The ids of the demo that examples of the API documents can name. A `demo.json` of an earlier version has no account.
 */
export interface DemoPlace {
  readonly account: string | undefined;
  readonly organization: string;
  readonly project: string;
}

export async function seedDemo(options: DevSeedOptions): Promise<DemoPlace> {
  const { ask, nextToken, dataDir, base, print } = options;
  const file = keptFile(dataDir);
  const kept = (await readKept(file)) ?? { email: DEMO_ADDRESS, password: newPassword() };
  const known = kept.key && (await reasonFor(ask, kept.key));
  const { account, key } =
    kept.key && known ? { ...kept, key: kept.key } : await made(ask, kept, nextToken, file);
  const reason = known ?? (await reasonFor(ask, key));
  print(`
  Demo           user ${kept.email}, organization ${ORGANIZATION}, project ${PROJECT}
  Password       in ${file}, with the key

  A request that answers ${reason}:

${pasteable(base, key)}
`);
  const [organization = '', project = ''] = key.scope.id.split(':');
  return { account, organization, project };
}

async function made(
  ask: Ask,
  kept: Kept,
  nextToken: () => Promise<string>,
  file: string,
): Promise<Kept & { readonly key: DemoKey }> {
  // Before there is a user: a password that nobody knows any more would leave him shut out.
  await writeKept(file, kept);
  const session = await signIn(ask, kept, nextToken).catch((error: unknown) => {
    if (!(error instanceof DemoRefused) || error.code !== 'CONFLICT') throw error;
    throw new Error(`${kept.email} is registered with another password than that of ${file}: mend the file`);
  });
  try {
    const key = await findOrMakeAll(ask, session);
    const whole = { ...kept, account: session.account, key };
    await writeKept(file, whole);
    return whole;
  } finally {
    await ask({ method: 'POST', path: '/auth/logout', token: session.token, body: {} });
  }
}

interface Scope {
  readonly tenant: string;
  readonly id: string;
}

interface Named {
  readonly name: string;
  readonly [field: string]: unknown;
}

async function findOrMakeAll(ask: Ask, { token, account }: DemoSession): Promise<DemoKey> {
  const post = (path: string, body: unknown) => must(ask, { method: 'POST', path, token, body });

  async function find(path: string, scope: Scope, name: string, filter = {}): Promise<string | undefined> {
    const query = { tenant: scope.tenant, scopeId: scope.id, search: name, limit: '100', ...filter };
    const page = await must(ask, {
      method: 'GET',
      path: `${path}?${new URLSearchParams(query).toString()}`,
      token,
    });
    return (page['items'] as { id: string; name: string }[]).find((item) => item.name === name)?.id;
  }

  async function findOrMake(path: string, scope: Scope, fields: Named): Promise<string> {
    return (
      (await find(path, scope, fields.name)) ?? ((await post(path, { scope, ...fields }))['id'] as string)
    );
  }

  const owner = { tenant: 'account', id: account };
  const organization = await findOrMake('/organizations', owner, { name: ORGANIZATION });
  const within = { tenant: 'organization', id: organization };
  const project = await findOrMake('/projects', within, { name: PROJECT });
  const scope = { tenant: 'organizationProject', id: `${organization}:${project}` };
  const { slug, action } = RESOURCE;
  const resource = { name: 'Invoice', slug, actions: [action, 'approve'] };
  const resourceId = await findOrMake('/resources', scope, resource);
  const permission = await findOrMake('/permissions', scope, { name: 'Read invoices', resourceId, action });
  const group = await findOrMake('/groups', scope, { name: 'Invoice reading', permissionIds: [permission] });
  const roleId = await findOrMake('/roles', scope, { name: 'Invoice reader', groupIds: [group] });

  // Of a key that is there the secret is lost, or it would not have come to this: it gets another one.
  const known = await find('/api-keys', scope, KEY, { status: 'active' });
  const key = known
    ? await post(`/api-keys/${known}/rotate`, { scope, graceSeconds: 0 })
    : await post('/api-keys', { scope, name: KEY, roleId });
  return { clientId: key['clientId'] as string, clientSecret: key['clientSecret'] as string, scope };
}
