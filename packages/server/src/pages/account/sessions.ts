import { html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { accountForm, shownTime, type AccountPage } from './account-page.ts';
import { row } from './fields.ts';

interface Texts {
  readonly about: string;
  readonly kinds: Readonly<Record<'browser' | 'cli' | 'projectApp' | 'impersonation' | 'sso', string>>;
  readonly current: string;
  readonly lastUsed: string;
  readonly unknown: string;
  readonly end: string;
  /** `{name}` is the session. */
  readonly endNamed: string;
  readonly endOthers: string;
  readonly more: string;
}

const texts: Record<Language, Texts> = {
  en: {
    about: 'Where you are signed in. End what you do not recognize, and change your password.',
    kinds: {
      browser: 'Browser',
      cli: 'Command line',
      projectApp: 'App',
      impersonation: 'Operator of the service',
      sso: 'Browser, for apps',
    },
    current: 'this session',
    lastUsed: 'Last used',
    unknown: 'unknown device',
    end: 'End',
    endNamed: 'End session: {name}',
    endOthers: 'End all other sessions',
    more: 'Only the last 100 sessions are listed.',
  },
  de: {
    about: 'Wo Sie angemeldet sind. Beenden Sie, was Sie nicht kennen, und ändern Sie Ihr Passwort.',
    kinds: {
      browser: 'Browser',
      cli: 'Kommandozeile',
      projectApp: 'App',
      impersonation: 'Betreiber des Dienstes',
      sso: 'Browser, für Apps',
    },
    current: 'diese Sitzung',
    lastUsed: 'Zuletzt benutzt',
    unknown: 'unbekanntes Gerät',
    end: 'Beenden',
    endNamed: 'Sitzung beenden: {name}',
    endOthers: 'Alle anderen Sitzungen beenden',
    more: 'Nur die letzten 100 Sitzungen sind aufgeführt.',
  },
  es: {
    about: 'Dónde tiene la sesión iniciada. Cierre lo que no reconozca y cambie su contraseña.',
    kinds: {
      browser: 'Navegador',
      cli: 'Línea de comandos',
      projectApp: 'Aplicación',
      impersonation: 'Operador del servicio',
      sso: 'Navegador, para aplicaciones',
    },
    current: 'esta sesión',
    lastUsed: 'Último uso',
    unknown: 'dispositivo desconocido',
    end: 'Cerrar',
    endNamed: 'Cerrar la sesión: {name}',
    endOthers: 'Cerrar todas las demás sesiones',
    more: 'Solo se muestran las últimas 100 sesiones.',
  },
  fr: {
    about: 'Où vous êtes connecté. Mettez fin à ce que vous ne reconnaissez pas, et changez de mot de passe.',
    kinds: {
      browser: 'Navigateur',
      cli: 'Ligne de commande',
      projectApp: 'Application',
      impersonation: 'Opérateur du service',
      sso: 'Navigateur, pour des applications',
    },
    current: 'cette session',
    lastUsed: 'Dernière utilisation',
    unknown: 'appareil inconnu',
    end: 'Terminer',
    endNamed: 'Terminer la session : {name}',
    endOthers: 'Terminer toutes les autres sessions',
    more: 'Seules les 100 dernières sessions sont affichées.',
  },
};

interface Session {
  readonly id: string;
  readonly kind: 'browser' | 'cli' | 'projectApp' | 'impersonation';
  readonly ssoProjectId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly lastUsedAt: string;
  readonly isCurrent: boolean;
}

interface Sessions {
  readonly items: readonly Session[];
  readonly hasNextPage: boolean;
}

const section = 'sessions';

/** Shows the sessions of the user. The user can end a single session, or all sessions except the current one. */
export const sessionsPage: AccountPage = {
  section,
  async body(view) {
    const { language, caller } = view;
    const words = texts[language];
    const { items, hasNextPage } = (await caller.call('myUserSessions', { limit: 100 })) as Sessions;
    const rows = items.map((session) => {
      const device = session.userAgent ?? words.unknown;
      const kind = words.kinds[session.ssoProjectId === null ? session.kind : 'sso'];
      const name = `${kind}, ${session.ipAddress ?? ''} ${device}`;
      return row(view, {
        section,
        id: session.id,
        title: session.isCurrent ? `${kind} (${words.current})` : kind,
        lines: [
          device,
          html`${session.ipAddress} · ${words.lastUsed}: ${shownTime(language, session.lastUsedAt)}`,
        ],
        form: session.isCurrent
          ? undefined
          : { name: 'end', button: words.end, label: words.endNamed.replace('{name}', () => name) },
      });
    });
    const hasOthers = items.some(({ isCurrent }) => !isCurrent);
    return html`<p>${words.about}</p>
      <ul class="rows">
        ${rows}
      </ul>
      ${hasNextPage && html`<p>${words.more}</p>`}
      ${hasOthers && accountForm(view, { name: 'endOthers', section, button: words.endOthers, isQuiet: true })}`;
  },
  forms: {
    async end({ id = '' }, { caller }) {
      await caller.call('revokeMyUserSession', { id });
      return 'saved';
    },
    async endOthers(_form, { caller }) {
      // Each session is ended and recorded by itself. Sessions that begin after the last list was read stay.
      for (let rest = true; rest;) {
        const { items, hasNextPage } = (await caller.call('myUserSessions', { limit: 100 })) as Sessions;
        for (const { id, isCurrent } of items) {
          if (!isCurrent) await endIfLive(caller, id);
        }
        rest = hasNextPage;
      }
      return 'saved';
    },
  },
};

/**
 * Ends a session unless it has ended: the end of a browser sign-in also ends app sessions that may follow in the
 * list.
 */
async function endIfLive(caller: { call(name: string, input: object): Promise<unknown> }, id: string) {
  await caller.call('revokeMyUserSession', { id }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'NOT_FOUND')) throw error;
  });
}
