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
import { signIn, type DemoSession, type Registration } from './sign-in.ts';

interface DevSeedOptions extends Registration {
  readonly send: SendDemoRequest;
  readonly dataDir: string;
}

const ORGANIZATION = 'Lantern Books';
const PROJECT = 'Bookshop';
const KEY = 'Demo key';
/** A user whom the console's page "Why?" shows as allowed, and one whom it shows as refused. */
const READER = 'Ann Reader';
const GUEST = 'Ben Guest';

/**
 * Ids of the demo rows, for examples in the API documents. `account` is missing in a `demo.json` of an earlier version.
 */
interface DemoIds {
  readonly account: string | undefined;
  readonly organization: string;
  readonly project: string;
}

interface Demo {
  readonly ids: DemoIds;
  /**
   * Returns the text to print once the service listens at `base`. It contains the secret of the key, so it must not be
   * logged.
   */
  readonly notice: (base: string) => string;
}

/**
 * DEV_SEED: creates demo data for a developer who starts the service for the first time. Each row is looked up by its
 * name and created if it is missing, so the next start completes an interrupted one. As long as the key of an earlier
 * start works, nothing is changed, because the developer may have edited the data. The example request is printed with
 * its current response.
 */
export async function seedDemo(options: DevSeedOptions): Promise<Demo> {
  const { send, dataDir } = options;
  const file = credentialsFile(dataDir);
  const stored = (await readCredentials(file)) ?? { email: DEMO_ADDRESS, password: newPassword() };
  const storedReason = stored.key && (await checkReason(send, stored.key));
  const { account, key } =
    stored.key && storedReason ? { ...stored, key: stored.key } : await createDemo(options, stored, file);
  const reason = storedReason ?? (await checkReason(send, key));
  const [organization = '', project = ''] = key.scope.id.split(':');
  return {
    ids: { account, organization, project },
    notice: (base) => `
  Demo           user ${stored.email}, organization ${ORGANIZATION}, project ${PROJECT}
  Password       in ${file}, with the key

  A request that answers ${reason}:

${curlCommand(base, key)}
`,
  };
}

async function createDemo(
  { send, ...registration }: DevSeedOptions,
  stored: StoredCredentials,
  file: string,
): Promise<StoredCredentials & { readonly key: DemoKey }> {
  // Stored before the user is created, because the demo user could not sign in again if the password were lost.
  await writeCredentials(file, stored);
  const session = await signIn(send, stored, registration).catch((error: unknown) => {
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
  await findOrCreate('/users', scope, { name: READER, roleIds: [roleId] });
  await findOrCreate('/users', scope, { name: GUEST });

  // This function only runs if no stored key works, so the secret of an existing key is lost. Rotating the key creates
  // a new one.
  const existing = await find('/api-keys', scope, KEY, { status: 'active' });
  const key = existing
    ? await post(`/api-keys/${existing}/rotate`, { scope, graceSeconds: 0 })
    : await post('/api-keys', { scope, name: KEY, roleId });
  return { clientId: key['clientId'] as string, clientSecret: key['clientSecret'] as string, scope };
}
