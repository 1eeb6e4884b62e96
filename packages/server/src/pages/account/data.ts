import { DoorwardError } from '../../errors.ts';
import { html } from '../../html/html.ts';
import type { Bare } from '../../http/account/account-calls.ts';
import type { Language } from '../../languages.ts';
import { accountForm, FieldProblem, problemOf, type AccountPage } from './account-page.ts';
import { textField } from './fields.ts';

interface Texts {
  readonly exported: string;
  readonly exportAbout: string;
  readonly download: string;
  readonly deletion: string;
  readonly consequences: string;
  readonly atOnce: string;
  readonly typed: string;
  readonly wrong: string;
  readonly erase: string;
  readonly lastOwner: string;
}

const texts: Record<Language, Texts> = {
  en: {
    exported: 'Export',
    exportAbout: 'A JSON file with all personal data that this service stores about you.',
    download: 'Download my data',
    deletion: 'Delete your data',
    consequences:
      'You are signed out everywhere, and cannot sign in again. Your accounts end with their projects, and so does every organization that has no other member. API keys that act for you stop working. Your address stays taken until your data is removed for good.',
    atOnce: 'Remove my data at once, without waiting for the end of the retention period',
    typed: 'To confirm, type {text}',
    wrong: 'This does not match.',
    erase: 'Delete everything about me',
    lastOwner:
      'In at least one of these organizations you are the only owner, and it has other members: {names}. Make another member owner there, or delete that organization.',
  },
  de: {
    exported: 'Export',
    exportAbout: 'Eine JSON-Datei mit allen persönlichen Daten, die dieser Dienst über Sie speichert.',
    download: 'Meine Daten herunterladen',
    deletion: 'Ihre Daten löschen',
    consequences:
      'Sie werden überall abgemeldet und können sich nicht mehr anmelden. Ihre Konten enden mit ihren Projekten, ebenso jede Organisation ohne ein anderes Mitglied. API-Schlüssel, die für Sie handeln, gelten nicht mehr. Ihre Adresse bleibt vergeben, bis Ihre Daten endgültig entfernt sind.',
    atOnce: 'Meine Daten sofort entfernen, ohne das Ende der Aufbewahrungsfrist abzuwarten',
    typed: 'Geben Sie zur Bestätigung {text} ein',
    wrong: 'Das stimmt nicht überein.',
    erase: 'Alles über mich löschen',
    lastOwner:
      'In mindestens einer dieser Organisationen sind Sie der einzige Besitzer, und sie hat andere Mitglieder: {names}. Machen Sie dort ein anderes Mitglied zum Besitzer, oder löschen Sie diese Organisation.',
  },
  es: {
    exported: 'Exportación',
    exportAbout: 'Un archivo JSON con todos los datos personales que este servicio guarda sobre usted.',
    download: 'Descargar mis datos',
    deletion: 'Eliminar sus datos',
    consequences:
      'Se cierra su sesión en todas partes y no podrá iniciarla de nuevo. Terminan sus cuentas con sus proyectos, y toda organización que no tenga otro miembro. Las claves de API que actúan por usted dejan de funcionar. Su dirección sigue ocupada hasta que sus datos se eliminen del todo.',
    atOnce: 'Eliminar mis datos de inmediato, sin esperar al final del plazo de conservación',
    typed: 'Para confirmar, escriba {text}',
    wrong: 'No coincide.',
    erase: 'Eliminar todo sobre mí',
    lastOwner:
      'En al menos una de estas organizaciones usted es el único propietario, y tiene otros miembros: {names}. Nombre propietario allí a otro miembro, o elimine esa organización.',
  },
  fr: {
    exported: 'Exportation',
    exportAbout:
      'Un fichier JSON avec toutes les données personnelles que ce service conserve à votre sujet.',
    download: 'Télécharger mes données',
    deletion: 'Supprimer vos données',
    consequences:
      'Vous êtes déconnecté partout, et ne pouvez plus vous connecter. Vos comptes prennent fin avec leurs projets, ainsi que toute organisation sans autre membre. Les clés d’API qui agissent pour vous ne fonctionnent plus. Votre adresse reste prise jusqu’à la suppression définitive de vos données.',
    atOnce: 'Supprimer mes données immédiatement, sans attendre la fin du délai de conservation',
    typed: 'Pour confirmer, saisissez {text}',
    wrong: 'Cela ne correspond pas.',
    erase: 'Tout supprimer à mon sujet',
    lastOwner:
      'Dans l’une au moins de ces organisations, vous êtes le seul propriétaire, et elle a d’autres membres : {names}. Nommez-y un autre membre propriétaire, ou supprimez cette organisation.',
  },
};

interface Me {
  readonly user: { readonly name: string; readonly email: string | null };
  readonly memberships: readonly {
    readonly organizationName: string;
    readonly role: { readonly name: string };
  }[];
}

const section = 'data';

/** Lets users export what the service stores about them, and delete themselves. */
export const dataPage: AccountPage = {
  section,
  async body(view) {
    const { language, caller, entered } = view;
    const words = texts[language];
    const { user } = (await caller.call('me', {})) as Me;
    const fields = html`${textField({
        id: 'typed',
        label: words.typed.replace('{text}', () => user.email ?? user.name),
        value: entered['typed'] ?? '',
        problem: problemOf(view, 'delete', 'typed'),
        attributes: html`autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="320"`,
      })}
      <label class="check">
        <input type="checkbox" name="atOnce" value="yes" />
        <span>${words.atOnce}</span>
      </label>`;
    return html`<h2>${words.exported}</h2>
      <p>${words.exportAbout}</p>
      ${accountForm(view, { name: 'export', section, button: words.download })}
      <h2>${words.deletion}</h2>
      <p>${words.consequences}</p>
      ${accountForm(view, { name: 'delete', section, button: words.erase, fields, isQuiet: true })}`;
  },
  forms: {
    async export(_form, { caller }) {
      return { bare: (await caller.call('exportMe', {})) as Bare };
    },
    async delete({ typed = '', atOnce }, { caller, language }) {
      const words = texts[language];
      const { user, memberships } = (await caller.call('me', {})) as Me;
      const expected = user.email ?? user.name;
      if (typed.trim().toLowerCase() !== expected.toLowerCase()) throw new FieldProblem('typed', words.wrong);
      try {
        await caller.call('deleteMe', { hardDelete: atOnce === 'yes' });
      } catch (error) {
        if (!(error instanceof DoorwardError) || error.code !== 'LAST_OWNER') throw error;
        const owned = memberships.filter(({ role }) => role.name === 'Organization Owner');
        const names = owned.map(({ organizationName }) => organizationName).join(', ');
        throw new FieldProblem(
          '',
          words.lastOwner.replace('{names}', () => names),
        );
      }
      return { redirectTo: '/hosted/signed-out' };
    },
  },
};
