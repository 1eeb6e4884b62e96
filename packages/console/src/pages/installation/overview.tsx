import { useRead } from '../../api/use-api.ts';
import { targetOf } from '../../entities/declarations/entity.ts';
import { formatNumber } from '../../i18n/format.ts';
import { useTexts, type Texts } from '../../i18n/language.ts';
import type { Scope } from '../../scopes/scope.ts';
import { useRights } from '../../scopes/use-scope.ts';
import { Facts } from '../../ui/facts.tsx';
import { Failure, Forbidden } from '../../scopes/failure.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/times/time.tsx';

const PERMISSION = 'Installation:Query';
const EVERY_MS = 10_000;

interface OverviewTexts {
  readonly title: string;
  readonly about: string;
  readonly version: string;
  readonly startedAt: string;
  readonly users: string;
  readonly accounts: string;
  readonly organizations: string;
  readonly projects: string;
  readonly checks: string;
  readonly ok: string;
  readonly failed: string;
  readonly queues: string;
  readonly queueAbout: string;
  readonly queue: (waiting: string, running: string, refused: string) => string;
  readonly backlogs: string;
  readonly warnings: string;
}

const texts: Texts<OverviewTexts> = {
  en: {
    title: 'Installation',
    about: 'The state of the service: read again every ten seconds.',
    version: 'Version',
    startedAt: 'Started',
    users: 'Users',
    accounts: 'Accounts',
    organizations: 'Organizations',
    projects: 'Projects',
    checks: 'Checks',
    ok: 'in order',
    failed: 'not in order',
    queues: 'Requests',
    queueAbout: 'In the process that answered.',
    queue: (waiting, running, refused) => `${waiting} wait, ${running} run, ${refused} were refused`,
    backlogs: 'Work that waits',
    warnings: 'Warnings',
  },
  de: {
    title: 'Installation',
    about: 'Der Zustand des Dienstes: alle zehn Sekunden neu gelesen.',
    version: 'Version',
    startedAt: 'Gestartet',
    users: 'Personen',
    accounts: 'Konten',
    organizations: 'Organisationen',
    projects: 'Projekte',
    checks: 'Prüfungen',
    ok: 'in Ordnung',
    failed: 'nicht in Ordnung',
    queues: 'Anfragen',
    queueAbout: 'In dem Prozess, der geantwortet hat.',
    queue: (waiting, running, refused) =>
      `${waiting} warten, ${running} laufen, ${refused} wurden abgewiesen`,
    backlogs: 'Arbeit, die wartet',
    warnings: 'Warnungen',
  },
  es: {
    title: 'Instalación',
    about: 'El estado del servicio: se lee de nuevo cada diez segundos.',
    version: 'Versión',
    startedAt: 'Iniciado',
    users: 'Usuarios',
    accounts: 'Cuentas',
    organizations: 'Organizaciones',
    projects: 'Proyectos',
    checks: 'Comprobaciones',
    ok: 'en orden',
    failed: 'no está en orden',
    queues: 'Solicitudes',
    queueAbout: 'En el proceso que ha respondido.',
    queue: (waiting, running, refused) =>
      `${waiting} esperan, ${running} en curso, ${refused} fueron rechazadas`,
    backlogs: 'Trabajo en espera',
    warnings: 'Advertencias',
  },
  fr: {
    title: 'Installation',
    about: 'L’état du service : relu toutes les dix secondes.',
    version: 'Version',
    startedAt: 'Démarré',
    users: 'Utilisateurs',
    accounts: 'Comptes',
    organizations: 'Organisations',
    projects: 'Projets',
    checks: 'Vérifications',
    ok: 'en ordre',
    failed: 'pas en ordre',
    queues: 'Requêtes',
    queueAbout: 'Dans le processus qui a répondu.',
    queue: (waiting, running, refused) =>
      `${waiting} attendent, ${running} en cours, ${refused} ont été refusées`,
    backlogs: 'Travail en attente',
    warnings: 'Avertissements',
  },
};

/** Shows operators the state of the service. */
export function InstallationOverview({ scope }: { readonly scope: Scope }) {
  const t = useTexts(texts);
  const rights = useRights(scope);
  const { data, error, refetch } = useRead(
    ['Installation', scope, 'state'],
    (api, signal) => api.installation(targetOf(scope), { signal }),
    { isEnabled: rights.can(PERMISSION), everyMs: EVERY_MS },
  );
  if (rights.isLoading) return <Skeleton />;
  if (!rights.can(PERMISSION))
    return rights.error ? (
      <Failure error={rights.error} onRetry={rights.readAgain} />
    ) : (
      <Forbidden permission={PERMISSION} />
    );
  if (!data) return error ? <Failure error={error} onRetry={() => refetch()} /> : <Skeleton />;
  const { counts, version, startedAt, checks, queues, backlogs, warnings } = data;
  const numbers = [
    [t.users, counts.users],
    [t.accounts, counts.accounts],
    [t.organizations, counts.organizations],
    [t.projects, counts.projects],
  ] as const;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
      </header>
      <Facts
        facts={[
          [t.version, version],
          [t.startedAt, <Time iso={startedAt} />],
          ...numbers.map(([label, count]) => [label, formatNumber(count)] as const),
        ]}
      />
      <h2>{t.checks}</h2>
      <Facts
        facts={checks.map(({ name, ok }) => [
          name,
          <span className={ok ? 'gain' : 'problem'}>{ok ? t.ok : t.failed}</span>,
        ])}
      />
      {warnings.length > 0 && (
        <>
          <h2>{t.warnings}</h2>
          <ul>
            {warnings.map((warning) => (
              <li key={warning} className="problem">
                {warning}
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>{t.queues}</h2>
      <p className="hint">{t.queueAbout}</p>
      <Facts
        facts={queues.map(({ name, waiting, running, refused }) => [
          name,
          t.queue(formatNumber(waiting), formatNumber(running), formatNumber(refused)),
        ])}
      />
      <h2>{t.backlogs}</h2>
      <Facts facts={backlogs.map(({ name, value }) => [name, formatNumber(value)])} />
    </>
  );
}
