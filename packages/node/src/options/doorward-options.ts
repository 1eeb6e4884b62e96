import { isClientSecret } from '../credentials/client-secret.ts';
import { ConfigError } from '../contracts/errors.ts';
import type { DoorwardOptions, LocalOptions, Scope } from '../contracts/types.ts';
import { serviceUrl } from './address.ts';
import { callRules } from './call-rules.ts';
import { choice, integer, optional, readOptions } from './read-options.ts';
import { scopeOption } from './scope.ts';

const text = optional<string>('a text', (value) => typeof value === 'string' && value !== '');

const rules = {
  ...callRules,
  clientId: text,
  clientSecret: text,
  onUnavailable: choice(['throw', 'deny'], 'throw'),
  consistency: choice(['ownWrites', 'any'], 'ownWrites'),
  clockToleranceSeconds: integer(0, 60, 5),
  local: optional<boolean | LocalOptions>(
    'true, false or an object',
    (value) => typeof value === 'boolean' || (typeof value === 'object' && value !== null),
  ),
};

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export interface Key {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Checks the options of a client. A missing `url`, `scope` or key comes from the environment. @throws ConfigError */
export function doorwardOptions(given: DoorwardOptions, env: Readonly<Record<string, string | undefined>>) {
  const {
    url,
    allowHttp,
    scope: givenScope,
    clientId,
    clientSecret,
    token,
    local,
    ...others
  } = readOptions(given, rules);
  const scope = scopeOption(givenScope, nonEmpty(env['DOORWARD_SCOPE']));
  const key = keyOption({ clientId, clientSecret, token }, env);
  if (key && !scope)
    throw new ConfigError(
      '`scope` is missing: a key is exchanged in its own scope.',
      ['scope'],
      "Give { tenant: 'organizationProject', id: '<organization id>:<project id>' }, or DOORWARD_SCOPE=<tenant>:<id>.",
    );
  return {
    ...others,
    url: serviceUrl(url ?? nonEmpty(env['DOORWARD_URL']), allowHttp),
    scope,
    key,
    token,
    local: localOptions(local, scope, key !== null || token !== undefined),
  };
}

/** Treats empty variables as unset, because container tools often pass unset variables as empty strings. */
const nonEmpty = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

function keyOption(
  {
    clientId,
    clientSecret,
    token,
  }: { clientId?: string | undefined; clientSecret?: string | undefined; token: unknown },
  env: Readonly<Record<string, string | undefined>>,
): Key | null {
  if (token !== undefined) {
    const extra = Object.entries({ clientId, clientSecret }).filter(([, value]) => value !== undefined);
    if (extra.length > 0)
      throw new ConfigError('`token` cannot be combined with `clientId` and `clientSecret`.', [
        'token',
        ...extra.map(([name]) => name),
      ]);
    return null;
  }
  const id = clientId ?? nonEmpty(env['DOORWARD_CLIENT_ID']);
  const secret = clientSecret ?? nonEmpty(env['DOORWARD_CLIENT_SECRET']);
  if (id === undefined && secret === undefined) return null;
  if (id === undefined || secret === undefined) {
    const missing = id === undefined ? 'clientId' : 'clientSecret';
    throw new ConfigError(`\`${missing}\` is missing.`, [missing]);
  }
  if (!uuid.test(id)) throw new ConfigError('`clientId` is not the client id of an API key.', ['clientId']);
  if (!isClientSecret(secret))
    throw new ConfigError(
      '`clientSecret` is not a client secret: its checksum does not match.',
      ['clientSecret'],
      'Copy all 56 characters, from `dwk_` on. A lost secret is replaced by rotateApiKey.',
    );
  return { clientId: id, clientSecret: secret };
}

const localRules = {
  maxStalenessMs: integer(1000, 60_000, 5000),
  onStale: choice(['remote', 'deny'], 'remote'),
  users: optional<'all' | 'none' | readonly string[]>(
    "'all', 'none' or 1 to 100 ids",
    (value) =>
      value === 'all' ||
      value === 'none' ||
      (Array.isArray(value) &&
        value.length >= 1 &&
        value.length <= 100 &&
        value.every((id) => uuid.test(String(id)))),
  ),
  maxMemoryMb: integer(1, 65_536, 256),
};

export interface LocalSettings {
  readonly maxStalenessMs: number;
  readonly onStale: 'remote' | 'deny';
  readonly users: 'all' | 'none' | readonly string[];
  readonly maxMemoryMb: number;
}

function localOptions(
  local: boolean | LocalOptions | undefined,
  scope: Scope | null,
  hasCredential: boolean,
): LocalSettings | null {
  if (local === undefined || local === false) return null;
  const { users = 'all', ...settings } = readOptions(local === true ? {} : local, localRules);
  if (!scope || (scope.tenant !== 'organizationProject' && scope.tenant !== 'accountProject'))
    throw new ConfigError('`local` needs the `scope` of a project.', ['local', 'scope']);
  if (!hasCredential)
    throw new ConfigError('`local` needs a key that may read snapshots.', [
      'local',
      'clientId',
      'clientSecret',
    ]);
  return { ...settings, users: typeof users === 'string' ? users : users.map((id) => id.toLowerCase()) };
}
