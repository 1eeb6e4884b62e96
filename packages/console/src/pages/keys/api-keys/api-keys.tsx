import { useMemo } from 'react';
import type { components } from '@doorward/node/client';
import { chipsColumn, textColumn, timeColumn } from '../../../entities/tables/columns.tsx';
import { EntityPage } from '../../../entities/entity-page.tsx';
import type { Entity } from '../../../entities/declarations/entity.ts';
import { idOf, type Scope } from '../../../scopes/scope.ts';
import { useMe } from '../../../scopes/use-scopes.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import type { Common } from '../../../i18n/common.ts';
import type { Column } from '../../../ui/tables/table.tsx';
import { Chip } from '../../../ui/chips.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { formInput } from '../../../entities/declarations/form-field.ts';
import { ApiKeyActions, ApiKeyDetails, nameOfKey, variablesOf } from './api-key-actions.tsx';
import { apiKeyFields, managementKeyFields, type KeyCreation } from './api-key-fields.ts';
import { apiKeyTexts, type ApiKeyTexts } from './api-key-texts.ts';
import { managementKeyTexts, type ManagementKeyTexts } from './management-key-texts.ts';

type ApiKey = components['schemas']['ApiKey'];

/** Keys with these tenants act as a program with its own role. All other keys act as a user. */
const withOwnRole: ReadonlySet<string> = new Set(['AccountProject', 'OrganizationProject']);

const UNUSED_AFTER_MS = 90 * 24 * 60 * 60 * 1000;

/** Whether a key can probably be removed, because it hasn't been used for a long time. */
const isUnused = ({ status, lastUsedAt, createdAt }: ApiKey): boolean =>
  status === 'active' && Date.now() - new Date(lastUsedAt ?? createdAt).getTime() > UNUSED_AFTER_MS;

/** Declares what the keys of all kinds of scopes have in common. */
const keysOfAnyScope = {
  noun: 'ApiKey',
  name: nameOfKey,
  columns: (t: ApiKeyTexts, c: Common): readonly Column<ApiKey>[] => [
    textColumn('name', c.name, nameOfKey, { sortField: 'name' }),
    {
      key: 'actsAs',
      label: t.actsAs,
      text: ({ role, user }) => [user?.name, role?.name].filter(Boolean).join(', '),
      cell: ({ role, user, userId, scope: { tenant } }) => (
        <>
          {!withOwnRole.has(tenant) && <bdi>{user?.name ?? userId}</bdi>} {role && <Chip>{role.name}</Chip>}
        </>
      ),
    },
    textColumn('status', c.status, ({ status }) => t[status], {
      cell: ({ status }) => <span className={status === 'active' ? '' : 'problem'}>{t[status]}</span>,
    }),
    {
      key: 'lastUsedAt',
      label: t.lastUse,
      sortField: 'lastUsedAt',
      text: ({ lastUsedAt }) => lastUsedAt ?? '',
      cell: (key) => (
        <>
          {key.lastUsedAt === null ? t.never : <Time iso={key.lastUsedAt} />}
          {isUnused(key) && (
            <>
              {' '}
              <Chip isBad>{t.unused}</Chip>
            </>
          )}
        </>
      ),
    },
    timeColumn('expiresAt', t.expiry, ({ expiresAt }) => expiresAt, {
      sortField: 'expiresAt',
      never: t.never,
    }),
    chipsColumn('networks', t.networks, ({ allowedCidrs }) => allowedCidrs),
  ],
  list: (api, input, signal) => api.apiKeys({ ...input, relations: ['role', 'user'] }, { signal }),
  read: (api, input, signal) => api.apiKey({ ...input, relations: ['role', 'user'] }, { signal }),
  bulk: (t) => [
    {
      key: 'revoke',
      label: t.revoke,
      about: t.revokeAbout,
      needs: 'ApiKey:Revoke',
      isDangerous: true,
      fits: ({ status }) => status === 'active',
      call: (api, input) => api.revokeApiKey(input),
    },
  ],
  secretOf: (answer) => variablesOf(answer as components['schemas']['ApiKeyWithSecret']),
  secretTitle: ({ yourKey }) => yourKey,
  remove: (api, input) => api.deleteApiKey(input),
  details: (apiKey) => <ApiKeyDetails apiKey={apiKey} />,
  actions: (apiKey) => <ApiKeyActions apiKey={apiKey} />,
} satisfies Partial<Entity<ApiKey, ApiKeyTexts>>;

const keysOfProject = (scope: Scope, creation: KeyCreation): Entity<ApiKey, ApiKeyTexts> => ({
  ...keysOfAnyScope,
  texts: apiKeyTexts,
  fields: (t, _row, c) => apiKeyFields(t, c, creation),
  create: (api, { actsAs, userId, ...input }) => {
    const user = actsAs === 'me' ? creation.userId : userId;
    // A key that acts as a user belongs to the scope of that user in the project.
    const owner =
      actsAs === 'role' ? {} : { scope: { tenant: 'projectUser', id: `${idOf(scope)}:${String(user)}` } };
    return api.createApiKey(formInput<'createApiKey'>({ ...input, ...owner }));
  },
});

const managementKeys: Entity<ApiKey, ManagementKeyTexts> = {
  ...keysOfAnyScope,
  texts: managementKeyTexts,
  fields: (t, _row, c) => managementKeyFields(t, c),
  create: (api, input) => api.createApiKey(input),
};

export default function ApiKeysPage() {
  const { tenant } = useScope();
  return tenant === 'organization' || tenant === 'account' ? (
    <EntityPage entity={managementKeys} />
  ) : (
    <ProjectKeys />
  );
}

function ProjectKeys() {
  const scope = useScope();
  const rights = useRights(scope);
  const { data: me } = useMe();
  const userId = me?.user.id;
  const mayActAsOthers = rights.can('ApiKey:CreateForUser') && rights.can('User:Query');
  const entity = useMemo(
    () => keysOfProject(scope, { userId, mayActAsOthers }),
    [scope, userId, mayActAsOthers],
  );
  return <EntityPage entity={entity} />;
}
