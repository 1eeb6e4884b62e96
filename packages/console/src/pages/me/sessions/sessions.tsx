import { useState } from 'react';
import type { Api, components } from '@doorward/node/client';
import { useList } from '../../../api/use-api.ts';
import { useTexts, type Texts } from '../../../i18n/language.ts';
import { Chip } from '../../../ui/chips.tsx';
import { ListFoot } from '../../../ui/tables/list-foot.tsx';
import { Failure } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { Table } from '../../../ui/tables/table.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { Confirmation } from '../parts/confirmation.tsx';
import { deviceName } from './device-name.ts';

type Session = components['schemas']['Session'];

interface SessionTexts {
  readonly title: string;
  readonly about: string;
  readonly device: string;
  readonly unknown: string;
  readonly current: string;
  readonly kinds: Readonly<Record<Session['kind'] | 'sso', string>>;
  readonly network: string;
  readonly lastUsed: string;
  readonly now: string;
  readonly lastUsedAbout: string;
  readonly signedIn: string;
  readonly factors: Readonly<Record<Session['acr'], string>>;
  readonly end: string;
  readonly endLabel: (device: string) => string;
  readonly ending: string;
  readonly endOthers: string;
  readonly endingOthers: string;
}

const texts: Texts<SessionTexts> = {
  en: {
    title: 'Sessions',
    about: 'Where you are signed in. End what you do not know, and change your password then.',
    device: 'Device',
    unknown: 'Unknown',
    current: 'this one',
    kinds: {
      browser: 'Browser',
      cli: 'Command line',
      projectApp: 'App of a project',
      sso: 'Browser, sign-in for apps of a project',
      impersonation: 'Operator of the service',
    },
    network: 'Network',
    lastUsed: 'Last used',
    now: 'now',
    lastUsedAbout: 'A device in use reports every few minutes, so the times of the others can be that old.',
    signedIn: 'Signed in',
    factors: { aal1: 'one factor', aal2: 'two factors' },
    end: 'End',
    endLabel: (device) => `End the session of ${device}`,
    ending: 'This device is signed out at once.',
    endOthers: 'End all others',
    endingOthers: 'All other devices are signed out at once. Only this session goes on.',
  },
  de: {
    title: 'Sitzungen',
    about: 'Wo Sie angemeldet sind. Beenden Sie, was Sie nicht kennen, und ändern Sie dann Ihr Passwort.',
    device: 'Gerät',
    unknown: 'Unbekannt',
    current: 'diese',
    kinds: {
      browser: 'Browser',
      cli: 'Kommandozeile',
      projectApp: 'App eines Projekts',
      sso: 'Browser, Anmeldung für Apps eines Projekts',
      impersonation: 'Betreiber des Dienstes',
    },
    network: 'Netz',
    lastUsed: 'Zuletzt benutzt',
    now: 'jetzt',
    lastUsedAbout:
      'Ein benutztes Gerät meldet sich alle paar Minuten; so alt können die Zeiten der anderen sein.',
    signedIn: 'Angemeldet',
    factors: { aal1: 'ein Faktor', aal2: 'zwei Faktoren' },
    end: 'Beenden',
    endLabel: (device) => `Sitzung von ${device} beenden`,
    ending: 'Dieses Gerät wird sofort abgemeldet.',
    endOthers: 'Alle anderen beenden',
    endingOthers: 'Alle anderen Geräte werden sofort abgemeldet. Nur diese Sitzung geht weiter.',
  },
  es: {
    title: 'Sesiones',
    about: 'Dónde tiene la sesión abierta. Termine lo que no conozca, y cambie entonces su contraseña.',
    device: 'Dispositivo',
    unknown: 'Desconocido',
    current: 'esta',
    kinds: {
      browser: 'Navegador',
      cli: 'Línea de comandos',
      projectApp: 'Aplicación de un proyecto',
      sso: 'Navegador, inicio de sesión para aplicaciones de un proyecto',
      impersonation: 'Operador del servicio',
    },
    network: 'Red',
    lastUsed: 'Último uso',
    now: 'ahora',
    lastUsedAbout:
      'Un dispositivo en uso se anuncia cada pocos minutos; las horas de los demás pueden tener ese retraso.',
    signedIn: 'Inicio',
    factors: { aal1: 'un factor', aal2: 'dos factores' },
    end: 'Terminar',
    endLabel: (device) => `Terminar la sesión de ${device}`,
    ending: 'La sesión de este dispositivo se cierra de inmediato.',
    endOthers: 'Terminar todas las demás',
    endingOthers: 'Se cierran de inmediato todas las demás sesiones. Solo sigue esta.',
  },
  fr: {
    title: 'Sessions',
    about: 'Où vous êtes connecté. Terminez ce que vous ne connaissez pas, puis changez votre mot de passe.',
    device: 'Appareil',
    unknown: 'Inconnu',
    current: 'celle-ci',
    kinds: {
      browser: 'Navigateur',
      cli: 'Ligne de commande',
      projectApp: 'Application d’un projet',
      sso: 'Navigateur, connexion aux applications d’un projet',
      impersonation: 'Opérateur du service',
    },
    network: 'Réseau',
    lastUsed: 'Dernière utilisation',
    now: 'maintenant',
    lastUsedAbout:
      'Un appareil utilisé se signale toutes les quelques minutes ; les heures des autres peuvent avoir ce retard.',
    signedIn: 'Connexion',
    factors: { aal1: 'un facteur', aal2: 'deux facteurs' },
    end: 'Terminer',
    endLabel: (device) => `Terminer la session de ${device}`,
    ending: 'Cet appareil est déconnecté aussitôt.',
    endOthers: 'Terminer toutes les autres',
    endingOthers: 'Tous les autres appareils sont déconnectés aussitôt. Seule cette session continue.',
  },
};

const PAGE = 50;

const Sessions = () => {
  const t = useTexts(texts);
  const [ending, setEnding] = useState<Session | 'others' | null>(null);
  const list = useList(['Session', 'mine'], (api, cursor, signal) =>
    api.myUserSessions({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }, { signal }),
  );
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const total = list.data?.pages[0]?.totalCount ?? 0;
  const nameOf = ({ userAgent }: Session): string => (userAgent ? deviceName(userAgent) : t.unknown);
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
        {total > 1 && (
          <button type="button" className="bad" onClick={() => setEnding('others')}>
            {t.endOthers}
          </button>
        )}
      </header>
      {list.isPending && <Skeleton />}
      {list.error && <Failure error={list.error} onRetry={() => list.refetch()} />}
      {rows.length > 0 && (
        <>
          <Table
            label={t.title}
            rows={rows}
            columns={[
              {
                key: 'device',
                label: t.device,
                cell: (session) => (
                  <>
                    <bdi title={session.userAgent ?? undefined}>{nameOf(session)}</bdi>{' '}
                    {session.isCurrent && <Chip>{t.current}</Chip>}
                    <br />
                    <small>
                      {t.kinds[session.ssoProjectId === null ? session.kind : 'sso']},{' '}
                      {t.factors[session.acr]}
                    </small>
                  </>
                ),
              },
              { key: 'network', label: t.network, cell: ({ ipAddress }) => ipAddress ?? '–' },
              {
                key: 'lastUsedAt',
                label: t.lastUsed,
                // The service only records a use when tokens are renewed, but the current session is in use now.
                cell: ({ isCurrent, lastUsedAt }) => (isCurrent ? t.now : <Time iso={lastUsedAt} />),
              },
              {
                key: 'authenticatedAt',
                label: t.signedIn,
                cell: ({ authenticatedAt }) => <Time iso={authenticatedAt} />,
              },
              {
                key: 'end',
                label: t.end,
                cell: (session) =>
                  !session.isCurrent && (
                    <button
                      type="button"
                      className="quiet"
                      aria-label={t.endLabel(nameOf(session))}
                      onClick={() => setEnding(session)}
                    >
                      {t.end}
                    </button>
                  ),
              },
            ]}
          />
          <ListFoot list={list} />
          {total > 1 && <p className="hint">{t.lastUsedAbout}</p>}
        </>
      )}
      {ending !== null && (
        <Confirmation
          title={ending === 'others' ? t.endOthers : t.endLabel(nameOf(ending))}
          consequence={ending === 'others' ? t.endingOthers : t.ending}
          submitLabel={ending === 'others' ? t.endOthers : t.end}
          act={(api) => (ending === 'others' ? endOthers(api) : api.revokeMyUserSession({ id: ending.id }))}
          onClose={() => setEnding(null)}
        />
      )}
    </>
  );
};
export default Sessions;

/** Ends all other sessions, page by page. Each needs its own call, because no operation spares the current session. */
async function endOthers(api: Api): Promise<void> {
  for (;;) {
    const { items } = await api.myUserSessions({ limit: 100 });
    const others = items.filter(({ isCurrent }) => !isCurrent);
    if (others.length === 0) return;
    for (const { id } of others) await api.revokeMyUserSession({ id });
  }
}
