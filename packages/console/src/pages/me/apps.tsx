import { useState } from 'react';
import type { components } from '@doorward/node/client';
import { useList } from '../../api/use-api.ts';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { Chips } from '../../ui/chips.tsx';
import { ListFoot } from '../../ui/tables/list-foot.tsx';
import { Failure } from '../../scopes/failure.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { Table } from '../../ui/tables/table.tsx';
import { Time } from '../../ui/times/time.tsx';
import { Confirmation } from './parts/confirmation.tsx';

type AppGrant = components['schemas']['AppGrant'];
type OpenidScope = AppGrant['openidScopes'][number];

interface AppsTexts {
  readonly title: string;
  readonly about: string;
  readonly none: string;
  readonly app: string;
  readonly permissions: string;
  readonly everything: string;
  readonly nothing: string;
  readonly data: string;
  readonly names: Readonly<Record<Exclude<OpenidScope, 'openid'>, string>>;
  readonly since: string;
  readonly revoke: string;
  readonly revokeLabel: (app: string) => string;
  readonly revoking: string;
}

const texts: Texts<AppsTexts> = {
  en: {
    title: 'Apps',
    about: 'What you have allowed apps to do for you. An app can never do more than you can.',
    none: 'You have not allowed any app to do anything yet.',
    app: 'App',
    permissions: 'Permissions',
    everything: 'everything that you may do in the project',
    nothing: 'none',
    data: 'Knows of you',
    names: { profile: 'name', email: 'e-mail address', offline_access: 'lasting access' },
    since: 'Allowed',
    revoke: 'Take back',
    revokeLabel: (app) => `Take back what ${app} may do`,
    revoking: 'The app is signed out at once. It asks you again the next time you sign in to it.',
  },
  de: {
    title: 'Apps',
    about: 'Was Sie Apps erlaubt haben. Eine App kann nie mehr tun, als Sie selbst dürfen.',
    none: 'Sie haben noch keiner App etwas erlaubt.',
    app: 'App',
    permissions: 'Berechtigungen',
    everything: 'alles, was Sie im Projekt dürfen',
    nothing: 'keine',
    data: 'Kennt von Ihnen',
    names: { profile: 'Name', email: 'E-Mail-Adresse', offline_access: 'dauerhafter Zugriff' },
    since: 'Erlaubt',
    revoke: 'Entziehen',
    revokeLabel: (app) => `${app} alles entziehen`,
    revoking: 'Die App wird sofort abgemeldet. Bei der nächsten Anmeldung fragt sie Sie wieder.',
  },
  es: {
    title: 'Aplicaciones',
    about: 'Lo que ha permitido a las aplicaciones. Una aplicación nunca puede hacer más que usted.',
    none: 'Aún no ha permitido nada a ninguna aplicación.',
    app: 'Aplicación',
    permissions: 'Permisos',
    everything: 'todo lo que usted puede hacer en el proyecto',
    nothing: 'ninguno',
    data: 'Sabe de usted',
    names: { profile: 'nombre', email: 'correo', offline_access: 'acceso duradero' },
    since: 'Permitido',
    revoke: 'Retirar',
    revokeLabel: (app) => `Retirar lo permitido a ${app}`,
    revoking: 'La sesión de la aplicación se cierra de inmediato. La próxima vez le preguntará de nuevo.',
  },
  fr: {
    title: 'Applications',
    about: 'Ce que vous avez autorisé. Une application ne peut jamais faire plus que vous.',
    none: 'Vous n’avez encore rien autorisé à aucune application.',
    app: 'Application',
    permissions: 'Autorisations',
    everything: 'tout ce que vous pouvez faire dans le projet',
    nothing: 'aucune',
    data: 'Sait de vous',
    names: { profile: 'nom', email: 'adresse e-mail', offline_access: 'accès durable' },
    since: 'Autorisé',
    revoke: 'Retirer',
    revokeLabel: (app) => `Retirer ce qui est autorisé à ${app}`,
    revoking:
      'L’application est déconnectée aussitôt. À la prochaine connexion, elle vous demandera de nouveau.',
  },
};

const PAGE = 50;

/** Lists the apps that the user has given consent to. */
const Apps = () => {
  const t = useTexts(texts);
  const [revoking, setRevoking] = useState<AppGrant | null>(null);
  const list = useList(['AppGrant', 'mine'], (api, cursor, signal) =>
    api.myAppGrants({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }, { signal }),
  );
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
      </header>
      {list.isPending && <Skeleton />}
      {list.error && <Failure error={list.error} onRetry={() => list.refetch()} />}
      {list.data && rows.length === 0 && <Empty title={t.none} />}
      {rows.length > 0 && (
        <>
          <Table
            label={t.title}
            rows={rows}
            columns={[
              {
                key: 'app',
                label: t.app,
                cell: ({ appName, projectName, organizationName }) => (
                  <>
                    <bdi>{appName}</bdi>
                    <br />
                    <small>
                      <bdi>{[projectName, organizationName].filter(Boolean).join(', ')}</bdi>
                    </small>
                  </>
                ),
              },
              {
                key: 'permissions',
                label: t.permissions,
                cell: ({ unrestricted, scopes }) =>
                  unrestricted ? t.everything : scopes.length > 0 ? <Chips texts={scopes} /> : t.nothing,
              },
              {
                key: 'data',
                label: t.data,
                cell: ({ openidScopes }) =>
                  openidScopes.flatMap((scope) => (scope === 'openid' ? [] : t.names[scope])).join(', ') ||
                  '–',
              },
              { key: 'updatedAt', label: t.since, cell: ({ updatedAt }) => <Time iso={updatedAt} /> },
              {
                key: 'revoke',
                label: t.revoke,
                cell: (grant) => (
                  <button
                    type="button"
                    className="quiet"
                    aria-label={t.revokeLabel(grant.appName)}
                    onClick={() => setRevoking(grant)}
                  >
                    {t.revoke}
                  </button>
                ),
              },
            ]}
          />
          <ListFoot list={list} />
        </>
      )}
      {revoking !== null && (
        <Confirmation
          title={t.revokeLabel(revoking.appName)}
          consequence={t.revoking}
          submitLabel={t.revoke}
          act={(api) => api.revokeMyAppGrant({ id: revoking.id })}
          onClose={() => setRevoking(null)}
        />
      )}
    </>
  );
};
export default Apps;
