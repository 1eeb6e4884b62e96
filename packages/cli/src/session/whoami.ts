import type { Command } from '../command.ts';
import { permissionColumns } from '../access/permissions.ts';
import type { Column } from '../output/table.ts';
import { scopeText } from '../settings/scope-text.ts';

const columns: readonly Column[] = [
  { name: 'service', of: 'url' },
  { name: 'profile' },
  { name: 'method' },
  { name: 'name' },
  { name: 'user', of: 'userId', kind: 'id' },
  { name: 'key', of: 'apiKeyId', kind: 'id' },
  { name: 'scope' },
  { name: 'expires', of: 'expiresAt', kind: 'time' },
  {
    name: 'organizations',
    of: ({ organizations }) => (organizations as { name: string }[]).map(({ name }) => name),
  },
];

export const whoami: Command = {
  path: ['whoami'],
  summary: 'Who you are to the service, by which method, and until when',
  options: { '--permissions': 'also what the token may do in the scope' },
  async run({ connection, settings, terminal }, _args, options) {
    const token = await connection.token();
    const claims = claimsOf(token);
    const identity = await connection.identity();
    const scope = await connection.scope();
    const isKey = claims['type'] === 'ApiKey';
    const me = isKey ? undefined : await (await connection.inScope()).api.me();
    // For an API key this is the only request. It fails if the key is no longer valid.
    const needsPermissions = options.flag('permissions') || isKey;
    const held = needsPermissions ? await (await connection.decisions()).permissions() : undefined;
    const row = {
      url: await settings.url(),
      profile: identity?.profile ?? null,
      method: identity?.kind === 'token' ? 'DOORWARD_TOKEN' : (identity?.kind ?? null),
      name: me?.user.email ?? me?.user.name ?? null,
      userId: me?.user.id ?? claims['sub'] ?? null,
      apiKeyId: isKey ? (claims['jti'] ?? null) : null,
      scope: scope ? scopeText(scope) : null,
      expiresAt: typeof claims['exp'] === 'number' ? new Date(claims['exp'] * 1000).toISOString() : null,
      organizations: (me?.memberships ?? []).map(({ organizationId: id, organizationName: name }) => ({
        id,
        name,
      })),
      ...(options.flag('permissions') ? { permissions: held?.permissions } : {}),
    };
    terminal.record(row, columns);
    if (options.flag('permissions') && held && !terminal.isJson)
      terminal.list(held.permissions, permissionColumns, null);
  },
};

/** Reads the claims without verifying the token. They are only shown to its owner, and nothing relies on them. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
  } catch {
    return {};
  }
}
