import { html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { shownTime, type AccountPage } from './account-page.ts';
import { row } from './fields.ts';

interface Texts {
  readonly about: string;
  readonly none: string;
  readonly permissions: string;
  readonly everything: string;
  readonly nothing: string;
  readonly knows: string;
  readonly profile: string;
  readonly email: string;
  readonly lasting: string;
  readonly since: string;
  readonly revoke: string;
  readonly revokeNamed: string;
  readonly more: string;
}

const texts: Record<Language, Texts> = {
  en: {
    about:
      'What you have allowed apps to do for you. An app can never do more than you can. If you take it back, the app is signed out at once, and asks you again the next time.',
    none: 'You have not allowed any app to do anything yet.',
    permissions: 'Permissions',
    everything: 'everything that you may do in the project',
    nothing: 'none',
    knows: 'Knows of you',
    profile: 'name',
    email: 'e-mail address',
    lasting: 'Stays signed in without you',
    since: 'Allowed',
    revoke: 'Take back',
    revokeNamed: 'Take back what {name} may do',
    more: 'Only the newest 100 are listed.',
  },
  de: {
    about:
      'Was Sie Apps erlaubt haben. Eine App kann nie mehr tun, als Sie selbst dürfen. Entziehen Sie es, wird die App sofort abgemeldet und fragt Sie beim nächsten Mal wieder.',
    none: 'Sie haben noch keiner App etwas erlaubt.',
    permissions: 'Berechtigungen',
    everything: 'alles, was Sie im Projekt dürfen',
    nothing: 'keine',
    knows: 'Kennt von Ihnen',
    profile: 'Name',
    email: 'E-Mail-Adresse',
    lasting: 'Bleibt auch ohne Sie angemeldet',
    since: 'Erlaubt',
    revoke: 'Entziehen',
    revokeNamed: '{name} alles entziehen',
    more: 'Nur die neuesten 100 sind aufgeführt.',
  },
  es: {
    about:
      'Lo que ha permitido a las aplicaciones. Una aplicación nunca puede hacer más que usted. Si lo retira, se cierra de inmediato la sesión de la aplicación, y la próxima vez le preguntará de nuevo.',
    none: 'Aún no ha permitido nada a ninguna aplicación.',
    permissions: 'Permisos',
    everything: 'todo lo que usted puede hacer en el proyecto',
    nothing: 'ninguno',
    knows: 'Sabe de usted',
    profile: 'nombre',
    email: 'correo electrónico',
    lasting: 'Sigue con la sesión iniciada sin usted',
    since: 'Permitido',
    revoke: 'Retirar',
    revokeNamed: 'Retirar lo permitido a {name}',
    more: 'Solo se muestran las 100 más recientes.',
  },
  fr: {
    about:
      'Ce que vous avez permis aux applications. Une application ne peut jamais faire plus que vous. Si vous le retirez, l’application est déconnectée aussitôt, et vous redemande la prochaine fois.',
    none: 'Vous n’avez encore rien permis à aucune application.',
    permissions: 'Permissions',
    everything: 'tout ce que vous pouvez faire dans le projet',
    nothing: 'aucune',
    knows: 'Sait de vous',
    profile: 'nom',
    email: 'adresse e-mail',
    lasting: 'Reste connectée sans vous',
    since: 'Permis',
    revoke: 'Retirer',
    revokeNamed: 'Retirer ce qui est permis à {name}',
    more: 'Seules les 100 plus récentes sont affichées.',
  },
};

interface Grant {
  readonly id: string;
  readonly appName: string;
  readonly projectName: string;
  readonly organizationName: string | null;
  readonly unrestricted: boolean;
  readonly scopes: readonly string[];
  readonly openidScopes: readonly ('openid' | 'profile' | 'email' | 'offline_access')[];
  readonly updatedAt: string;
}

const section = 'apps';

/** The apps that the user has consented to; each consent can be withdrawn. */
export const appsPage: AccountPage = {
  section,
  async body(view) {
    const { language, caller } = view;
    const words = texts[language];
    const { items, hasNextPage } = (await caller.call('myAppGrants', { limit: 100 })) as {
      readonly items: readonly Grant[];
      readonly hasNextPage: boolean;
    };
    const rows = items.map((grant) => {
      const scopes = grant.scopes.join(', ') || words.nothing;
      const learns = grant.openidScopes.flatMap((scope) =>
        scope === 'profile' || scope === 'email' ? [words[scope]] : [],
      );
      return row(view, {
        section,
        id: grant.id,
        title: grant.appName,
        lines: [
          [grant.organizationName, grant.projectName].filter((name) => name !== null).join(' · '),
          `${words.permissions}: ${grant.unrestricted ? words.everything : scopes}`,
          ...(learns.length > 0 ? [`${words.knows}: ${learns.join(', ')}`] : []),
          ...(grant.openidScopes.includes('offline_access') ? [words.lasting] : []),
          html`${words.since}: ${shownTime(language, grant.updatedAt)}`,
        ],
        form: {
          name: 'revoke',
          button: words.revoke,
          label: words.revokeNamed.replace('{name}', () => grant.appName),
        },
      });
    });
    return html`<p>${words.about}</p>
      ${
        rows.length > 0
          ? html`<ul class="rows">
              ${rows}
            </ul>`
          : html`<p>${words.none}</p>`
      }
      ${hasNextPage && html`<p>${words.more}</p>`}`;
  },
  forms: {
    async revoke({ id = '' }, { caller }) {
      await caller.call('revokeMyAppGrant', { id });
      return 'saved';
    },
  },
};
