import { Link } from '@tanstack/react-router';
import type { Api } from '@doorward/node/client';
import { useRead } from '../../../api/use-api.ts';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { formatNumber, plural } from '../../../i18n/format.ts';
import { useLanguage, useTexts, type Texts } from '../../../i18n/language.ts';
import type { Scope } from '../../../scopes/scope.ts';
import type { Rights } from '../../../scopes/use-scope.ts';
import { usePages, type Page } from '../../page.ts';

const SOON_MS = 30 * 24 * 60 * 60 * 1000;
const READ = 100;

interface Forms {
  readonly one: string;
  readonly other: string;
}

const texts: Texts<{ readonly title: string; readonly expiring: Forms; readonly failing: Forms }> = {
  en: {
    title: 'In this project',
    expiring: { one: '# expires within 30 days', other: '# expire within 30 days' },
    failing: { one: '# fails', other: '# fail' },
  },
  de: {
    title: 'In diesem Projekt',
    expiring: { one: '# läuft in 30 Tagen ab', other: '# laufen in 30 Tagen ab' },
    failing: { one: '# scheitert', other: '# scheitern' },
  },
  es: {
    title: 'En este proyecto',
    expiring: { one: '# caduca en 30 días', other: '# caducan en 30 días' },
    failing: { one: '# falla', other: '# fallan' },
  },
  fr: {
    title: 'Dans ce projet',
    expiring: { one: '# expire dans les 30 jours', other: '# expirent dans les 30 jours' },
    failing: { one: '# échoue', other: '# échouent' },
  },
};

interface Count {
  readonly total: number;
  /** How many rows need attention, among those that were read. */
  readonly bad?: number;
}

const counts: Readonly<
  Record<string, { readonly noun: string; readonly read: (api: Api, scope: Scope) => Promise<Count> }>
> = {
  users: {
    noun: 'User',
    read: async (api, scope) => ({ total: (await api.users({ ...targetOf(scope), limit: 1 })).totalCount }),
  },
  roles: {
    noun: 'Role',
    read: async (api, scope) => ({ total: (await api.roles({ ...targetOf(scope), limit: 1 })).totalCount }),
  },
  'api-keys': {
    noun: 'ApiKey',
    // Sorted by expiry, so that the keys that expire first are among those that are read.
    read: async (api, scope) => {
      const { items, totalCount } = await api.apiKeys({
        ...targetOf(scope),
        status: 'active',
        sortField: 'expiresAt',
        sortOrder: 'ASC',
        limit: READ,
      });
      const isSoon = (iso: string | null): boolean =>
        iso !== null && new Date(iso).getTime() - Date.now() < SOON_MS;
      return { total: totalCount, bad: items.filter(({ expiresAt }) => isSoon(expiresAt)).length };
    },
  },
  webhooks: {
    noun: 'WebhookSubscription',
    read: async (api, scope) => {
      const { items, totalCount } = await api.webhookSubscriptions({ ...targetOf(scope), limit: READ });
      const isFailing = (row: (typeof items)[number]): boolean =>
        row.failingSince !== null || row.disabledReason !== null;
      return { total: totalCount, bad: items.filter(isFailing).length };
    },
  },
};

/** Shows how many users, roles, keys and webhooks a project has, and how many of them need attention. */
export function Numbers({ scope, can }: { readonly scope: Scope; readonly can: Rights['can'] }) {
  const t = useTexts(texts);
  const pages = usePages().filter(({ name }) => {
    const count = counts[name];
    return count !== undefined && can(`${count.noun}:Query`);
  });
  if (pages.length === 0) return null;
  return (
    <ul className="cards numbers" aria-label={t.title}>
      {pages.map((page) => (
        <li key={page.name}>
          <NumberCard scope={scope} page={page} />
        </li>
      ))}
    </ul>
  );
}

function NumberCard({ scope, page }: { readonly scope: Scope; readonly page: Page }) {
  const { name, label } = page;
  const t = useTexts(texts);
  const language = useLanguage();
  const count = counts[name];
  const { data } = useRead([count?.noun, scope, 'count'], (api) =>
    count ? count.read(api, scope) : Promise.resolve<Count>({ total: 0 }),
  );
  const bad = data?.bad ?? 0;
  return (
    <Link to="/$tenant/$id/$page" params={{ ...scope, page: name }}>
      <small>{label[language]}</small>
      <strong>{data ? formatNumber(data.total) : '…'}</strong>
      {bad > 0 && (
        <small className="problem">{plural(bad, name === 'webhooks' ? t.failing : t.expiring)}</small>
      )}
    </Link>
  );
}
