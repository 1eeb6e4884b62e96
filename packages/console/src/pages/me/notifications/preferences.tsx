import type { Api, components } from '@doorward/node/client';
import { useChange, useRead } from '../../../api/use-api.ts';
import { useTexts } from '../../../i18n/language.ts';
import { ErrorBox } from '../../../session/error-box.tsx';
import { Failure } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { Table } from '../../../ui/tables/table.tsx';
import { preferenceTexts } from './preference-texts.ts';

type Preference = components['schemas']['NotificationPreference'];

const preferencesKey = ['NotificationPreference', 'mine'] as const;
const channels: readonly Preference['channel'][] = ['inApp', 'email'];

/** Lets the user choose which notifications they get in the console and by mail. */
export function Preferences() {
  const t = useTexts(preferenceTexts);
  const { data, error, refetch } = useRead(preferencesKey, (api, signal) =>
    api.myNotificationPreferences({}, { signal }),
  );
  const types = [...new Set(data?.items.map(({ type }) => type))];
  return (
    <section>
      <h2>{t.title}</h2>
      <p>{t.about}</p>
      {error && <Failure error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton />}
      {data && (
        <Table
          label={t.title}
          rows={types.map((type) => ({ id: type, type }))}
          columns={[
            { key: 'type', label: t.type, cell: ({ type }) => t.types[type] ?? type },
            ...channels.map((channel) => ({
              key: channel,
              label: t.channels[channel],
              cell: ({ type }: { readonly type: Preference['type'] }) => {
                const preference = data.items.find(
                  (other) => other.type === type && other.channel === channel,
                );
                return preference && <Switch preference={preference} />;
              },
            })),
          ]}
        />
      )}
    </section>
  );
}

/** Switches immediately, and back if the service refuses the change. */
function Switch({ preference: { type, channel, enabled, locked } }: { readonly preference: Preference }) {
  const t = useTexts(preferenceTexts);
  const change = useChange(
    (api: Api, next: boolean) => api.setMyNotificationPreference({ type, channel, enabled: next }),
    {
      expected: ({ answer }, next) =>
        answer<{ readonly items: readonly Preference[] }>(preferencesKey, ({ items, ...rest }) => ({
          ...rest,
          items: items.map((other) =>
            other.type === type && other.channel === channel ? { ...other, enabled: next } : other,
          ),
        })),
    },
  );
  return (
    <>
      <label className="row">
        <input
          type="checkbox"
          aria-label={`${t.types[type] ?? type}: ${t.channels[channel]}`}
          checked={enabled}
          disabled={locked}
          onChange={(event) => change.mutate(event.target.checked)}
        />
        {locked && <small>{t.locked}</small>}
      </label>
      {change.error && <ErrorBox error={change.error} />}
    </>
  );
}
