import { DemoRefused, sendOrThrow, type SendDemoRequest } from './internal-client.ts';
import {
  credentialsFile,
  newPassword,
  readCredentials,
  writeCredentials,
  type DemoKey,
  type StoredCredentials,
} from './stored-credentials.ts';
import { DEMO_ADDRESS } from './mailbox.ts';
import { curlCommand, checkReason, RESOURCE } from './request.ts';
import { signIn, type DemoSession } from './sign-in.ts';

/**
 * DEV_SEED: creates demo data for a developer who starts the service for the first time. Each row is found by its name or
 * created, so the next start completes one that was interrupted. While the key of an earlier start works, nothing is
 * changed, because the developer may have edited the data. The example request is printed with its current answer.
 */
interface DevSeedOptions {
  readonly send: SendDemoRequest;
  readonly nextToken: () => Promise<string>;
  readonly dataDir: string;
  /** Public URL of the service, for the printed request. */
  readonly base: string;
  /** Writes to the terminal and never to the log, because the text contains the secret of the key. */
  readonly print: (text: string) => void;
}

const ORGANIZATION = 'Lantern Books';
const PROJECT = 'Bookshop';
const KEY = 'Demo key';

/**
 * Ids of the demo rows, for examples in the API documents. A `demo.json` of an earlier version has no account.
 */
interface DemoIds {
  readonly account: string | undefined;
  readonly organization: string;
  readonly project: string;
}

export async function seedDemo(options: DevSeedOptions): Promise<DemoIds> {
  const { send: send, nextToken, dataDir, base, print } = options;
  const file = credentialsFile(dataDir);
  const stored = (await readCredentials(file)) ?? { email: DEMO_ADDRESS, password: newPassword() };
  const storedReason = stored.key && (await checkReason(send, stored.key));
  const { account, key } =
    stored.key && storedReason
      ? { ...stored, key: stored.key }
      : await createDemo(send, stored, nextToken, file);
  const reason = storedReason ?? (await checkReason(send, key));
  print(`
  Demo           user ${stored.email}, organization ${ORGANIZATION}, project ${PROJECT}
  Password       in ${file}, with the key

  A request that answers ${reason}:

${curlCommand(base, key)}
`);
  const [organization = '', project = ''] = key.scope.id.split(':');
  return { account, organization, project };
}

async function createDemo(
  send: SendDemoRequest,
  stored: StoredCredentials,
  nextToken: () => Promise<string>,
  file: string,
): Promise<StoredCredentials & { readonly key: DemoKey }> {
  // Stored before the user is created: if the password were lost, the demo user could not sign in again.
  await writeCredentials(file, stored);
  const session = await signIn(send, stored, nextToken).catch((error: unknown) => {
    if (!(error instanceof DemoRefused) || error.code !== 'CONFLICT') throw error;
    throw new Error(
      `${stored.email} is registered with another password than that in ${file}: correct the file`,
    );
  });
  try {
    const key = await findOrCreateAll(send, session);
    const complete = { ...stored, account: session.account, key };
    await writeCredentials(file, complete);
    return complete;
  } finally {
    await send({ method: 'POST', path: '/auth/logout', token: session.token, body: {} });
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

async function findOrCreateAll(send: SendDemoRequest, { token, account }: DemoSession): Promise<DemoKey> {
  const post = (path: string, body: unknown) => sendOrThrow(send, { method: 'POST', path, token, body });

  async function find(path: string, scope: Scope, name: string, filter = {}): Promise<string | undefined> {
    const query = { tenant: scope.tenant, scopeId: scope.id, search: name, limit: '100', ...filter };
    const page = await sendOrThrow(send, {
      method: 'GET',
      path: `${path}?${new URLSearchParams(query).toString()}`,
      token,
    });
    return (page['items'] as { id: string; name: string }[]).find((item) => item.name === name)?.id;
  }

  async function findOrCreate(path: string, scope: Scope, fields: Named): Promise<string> {
    return (
      (await find(path, scope, fields.name)) ?? ((await post(path, { scope, ...fields }))['id'] as string)
    );
  }

  const owner = { tenant: 'account', id: account };
  const organization = await findOrCreate('/organizations', owner, { name: ORGANIZATION });
  const within = { tenant: 'organization', id: organization };
  const project = await findOrCreate('/projects', within, { name: PROJECT });
  const scope = { tenant: 'organizationProject', id: `${organization}:${project}` };
  const { slug, action } = RESOURCE;
  const resource = { name: 'Invoice', slug, actions: [action, 'approve'] };
  const resourceId = await findOrCreate('/resources', scope, resource);
  const permission = await findOrCreate('/permissions', scope, { name: 'Read invoices', resourceId, action });
  const group = await findOrCreate('/groups', scope, {
    name: 'Invoice reading',
    permissionIds: [permission],
  });
  const roleId = await findOrCreate('/roles', scope, { name: 'Invoice reader', groupIds: [group] });

  // The secret of an existing key was lost, otherwise this function would not run. Rotating the key creates a new one.
  const existing = await find('/api-keys', scope, KEY, { status: 'active' });
  const key = existing
    ? await post(`/api-keys/${existing}/rotate`, { scope, graceSeconds: 0 })
    : await post('/api-keys', { scope, name: KEY, roleId });
  return { clientId: key['clientId'] as string, clientSecret: key['clientSecret'] as string, scope };
}
