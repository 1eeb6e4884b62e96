import { html } from '../../../html/html.ts';
import type { Language } from '../../../languages.ts';
import { hiddenField } from '../../sign-in/app-page.ts';
import { accountForm, parsed, problemOf, shownTime, type AccountPage } from '../account-page.ts';
import { accountTexts } from '../account-texts.ts';
import { row, textField } from '../fields.ts';
import { addPasskeyScript } from './passkey-script.ts';
import { keepCodes, recoveryCodesBody } from './recovery-codes.ts';

interface Texts {
  readonly about: string;
  readonly add: string;
  readonly name: string;
  readonly nameInitial: string;
  readonly unavailable: string;
  readonly unused: string;
  readonly added: string;
  readonly backedUp: string;
  readonly rename: string;
  readonly renameNamed: string;
}

const texts: Record<Language, Texts> = {
  en: {
    about:
      'A passkey on your device or in your password manager signs you in without a password. It works only on our pages, so a forged page gets nothing.',
    add: 'Add a passkey',
    name: 'Name',
    nameInitial: 'My passkey',
    unavailable: 'To add a passkey, your browser must support passkeys at this address, and run scripts.',
    unused: 'No passkey was added. Try again.',
    added: 'Added',
    backedUp: 'backed up',
    rename: 'Rename',
    renameNamed: 'Rename {name}',
  },
  de: {
    about:
      'Mit einem Passkey auf Ihrem Gerät oder in Ihrem Passwortmanager melden Sie sich ohne Passwort an. Er gilt nur auf unseren Seiten; eine gefälschte Seite bekommt nichts.',
    add: 'Passkey hinzufügen',
    name: 'Name',
    nameInitial: 'Mein Passkey',
    unavailable:
      'Um einen Passkey hinzuzufügen, muss Ihr Browser an dieser Adresse Passkeys unterstützen und Skripte ausführen.',
    unused: 'Es wurde kein Passkey hinzugefügt. Versuchen Sie es noch einmal.',
    added: 'Hinzugefügt',
    backedUp: 'gesichert',
    rename: 'Umbenennen',
    renameNamed: '{name} umbenennen',
  },
  es: {
    about:
      'Una llave de acceso en su dispositivo o en su gestor de contraseñas le permite iniciar sesión sin contraseña. Solo funciona en nuestras páginas: una página falsa no obtiene nada.',
    add: 'Añadir una llave de acceso',
    name: 'Nombre',
    nameInitial: 'Mi llave de acceso',
    unavailable:
      'Para añadir una llave de acceso, su navegador debe admitirlas en esta dirección y ejecutar scripts.',
    unused: 'No se añadió ninguna llave de acceso. Inténtelo de nuevo.',
    added: 'Añadida',
    backedUp: 'con copia de seguridad',
    rename: 'Cambiar el nombre',
    renameNamed: 'Cambiar el nombre de {name}',
  },
  fr: {
    about:
      'Une clé d’accès sur votre appareil ou dans votre gestionnaire de mots de passe vous connecte sans mot de passe. Elle ne fonctionne que sur nos pages : une page contrefaite n’obtient rien.',
    add: 'Ajouter une clé d’accès',
    name: 'Nom',
    nameInitial: 'Ma clé d’accès',
    unavailable:
      'Pour ajouter une clé d’accès, votre navigateur doit les prendre en charge à cette adresse et exécuter des scripts.',
    unused: 'Aucune clé d’accès n’a été ajoutée. Réessayez.',
    added: 'Ajoutée',
    backedUp: 'sauvegardée',
    rename: 'Renommer',
    renameNamed: 'Renommer {name}',
  },
};

interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly backedUp: boolean;
  readonly createdAt: string;
}

const section = 'passkeys';

/** The passkeys of the user. Adding a passkey needs the script, because only scripts can reach the device. */
export const passkeysPage: AccountPage = {
  section,
  script: addPasskeyScript,
  lengths: { name: 100 },
  async body(view) {
    const { language, caller, entered } = view;
    const words = texts[language];
    const remove = accountTexts[language];
    const { items } = (await caller.call('myPasskeys', { limit: 100 })) as {
      readonly items: readonly Passkey[];
    };
    const rows = items.map(({ id, name, backedUp, createdAt }) => {
      const isRefused = entered['id'] === id;
      const problem = isRefused ? problemOf(view, 'rename', 'name') : undefined;
      const renameForm = accountForm(view, {
        name: 'rename',
        section,
        button: words.rename,
        label: words.renameNamed.replace('{name}', () => name),
        isQuiet: true,
        fields: html`${hiddenField('id', id)}
        ${textField({
          id: `name-${id}`,
          name: 'name',
          label: words.name,
          value: isRefused ? (entered['name'] ?? '') : name,
          problem,
          attributes: html`maxlength="100"`,
        })}`,
      });
      return row(view, {
        section,
        id,
        title: name,
        lines: [
          html`${words.added}: ${shownTime(language, createdAt)}${backedUp && html` · ${words.backedUp}`}`,
        ],
        form: {
          name: 'remove',
          button: remove.remove,
          label: remove.removeNamed.replace('{name}', () => name),
        },
        more: html`<details${problem !== undefined && html` open`}>
          <summary>${words.renameNamed.replace('{name}', () => name)}</summary>
          ${renameForm}
        </details>`,
      });
    });
    const fields = html`${hiddenField('challengeId', '')} ${hiddenField('credential', '')}
    ${textField({
      id: 'name',
      label: words.name,
      value: entered['form'] === 'add' ? (entered['name'] ?? '') : words.nameInitial,
      problem: problemOf(view, 'add', 'name'),
      attributes: html`maxlength="100"`,
    })}`;
    return html`<p>${words.about}</p>
      ${
        rows.length > 0 &&
        html`<ul class="rows">
          ${rows}
        </ul>`
      }
      <p id="no-passkey">${words.unavailable}</p>
      <div id="new-passkey" hidden>
        ${accountForm(view, { name: 'add', section, button: words.add, fields })}
        <p role="status" data-unused="${words.unused}"></p>
      </div>`;
  },
  forms: {
    async options(_form, { caller }) {
      const body = JSON.stringify(await caller.call('createPasskeyOptions', {}));
      return { bare: { headers: { 'content-type': 'application/json; charset=utf-8' }, body } };
    },
    async add({ challengeId = '', credential = '', name = '' }, view) {
      const { recoveryCodes } = (await view.caller.call('createPasskey', {
        challengeId,
        credential: parsed(credential),
        name,
      })) as { readonly recoveryCodes: readonly string[] | null };
      return recoveryCodes ? { shown: recoveryCodesBody(view, section, recoveryCodes) } : 'saved';
    },
    async rename({ id = '', name = '' }, { caller }) {
      await caller.call('updateMyPasskey', { id, name });
      return 'saved';
    },
    async remove({ id = '' }, { caller }) {
      await caller.call('deleteMyPasskey', { id });
      return 'saved';
    },
    kept: keepCodes,
  },
};
