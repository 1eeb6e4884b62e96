import type { components } from '@doorward/node/client';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { serviceUrl } from '../../../session/session.ts';
import { Exact, Facts } from '../../../ui/facts.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { RowAction } from '../row-action.tsx';
import { apiKeyTexts } from './api-key-texts.ts';
import { defaultGrace, graceChoices, isAhead } from '../grace.ts';

type ApiKey = components['schemas']['ApiKey'];
type ApiKeyWithSecret = components['schemas']['ApiKeyWithSecret'];

/** Formats a key as the environment variables that `@doorward/node` reads; null if the response has no secret. */
export const variablesOf = ({ clientId, clientSecret, scope }: ApiKeyWithSecret): string | null =>
  clientSecret === null
    ? null
    : [
        `DOORWARD_URL=${serviceUrl}`,
        `DOORWARD_CLIENT_ID=${clientId}`,
        `DOORWARD_CLIENT_SECRET=${clientSecret}`,
        `DOORWARD_SCOPE=${scope.tenant.charAt(0).toLowerCase()}${scope.tenant.slice(1)}:${scope.id}`,
      ].join('\n');

export const nameOfKey = ({ name, clientId }: ApiKey): string => name ?? clientId;

export function ApiKeyActions({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useTexts(apiKeyTexts);
  const rights = useRights(useScope());
  const { id } = apiKey;
  if (apiKey.status !== 'active') return null;
  return (
    <>
      {rights.can('ApiKey:Rotate') && (
        <RowAction
          label={t.rotate}
          name={nameOfKey(apiKey)}
          about={t.rotateAbout}
          isMain
          fields={[
            {
              kind: 'option',
              name: 'graceSeconds',
              label: t.grace,
              options: graceChoices(t.atOnce, 1, 7, 30),
              initial: defaultGrace,
            },
          ]}
          save={(api, { graceSeconds, ...input }) =>
            api.rotateApiKey({ ...input, id, graceSeconds: Number(graceSeconds) })
          }
          secretOf={variablesOf}
          secretTitle={t.yourKey}
        />
      )}
      {rights.can('ApiKey:Revoke') && (
        <RowAction
          label={t.revoke}
          name={nameOfKey(apiKey)}
          about={t.revokeAbout}
          isDangerous
          fields={[{ kind: 'text', name: 'reason', label: t.reason, initial: '' }]}
          save={(api, { reason, ...input }) =>
            api.revokeApiKey({ ...input, id, ...(typeof reason === 'string' && reason ? { reason } : {}) })
          }
        />
      )}
    </>
  );
}

/** Details of a key for which the list has no space. */
export function ApiKeyDetails({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useTexts(apiKeyTexts);
  const c = useTexts(common);
  const time = (iso: string | null) => iso && <Time iso={iso} />;
  return (
    <Facts
      facts={[
        [c.description, apiKey.description && <bdi>{apiKey.description}</bdi>],
        [t.clientId, <Exact text={apiKey.clientId} />],
        [t.lastIp, apiKey.lastUsedIp],
        [t.rotatedAt, time(apiKey.rotatedAt)],
        [t.oldSecretUntil, isAhead(apiKey.previousSecretExpiresAt) && time(apiKey.previousSecretExpiresAt)],
        [t.revokedAt, time(apiKey.revokedAt)],
        [t.reason, apiKey.revokedReason && <bdi>{apiKey.revokedReason}</bdi>],
      ]}
    />
  );
}
