import { DoorwardError } from '../../errors.ts';
import { html } from '../../html/html.ts';
import { languages, type Language } from '../../languages.ts';
import { accountForm, FieldProblem, problemOf, type AccountPage } from './account-page.ts';
import { accountTexts } from './account-texts.ts';
import { textField } from './fields.ts';

interface Texts {
  readonly name: string;
  readonly language: string;
  readonly ofBrowser: string;
  readonly address: string;
  readonly verified: string;
  readonly unverified: string;
  readonly picture: string;
  readonly removePicture: string;
  readonly newPicture: string;
  readonly upload: string;
  readonly account: string;
  readonly accountAbout: string;
  readonly createAccount: string;
}

const texts: Record<Language, Texts> = {
  en: {
    name: 'Name',
    language: 'Language of your mails',
    ofBrowser: 'That of the browser',
    address: 'E-mail address',
    verified: 'verified',
    unverified: 'not verified',
    picture: 'Your picture',
    removePicture: 'Remove the picture',
    newPicture: 'Picture: JPEG, PNG, WebP or GIF, at most 2 MiB',
    upload: 'Upload the picture',
    account: 'Account for projects',
    accountAbout: 'You need an account only to make projects of your own. Apps work without it.',
    createAccount: 'Create an account',
  },
  de: {
    name: 'Name',
    language: 'Sprache Ihrer Mails',
    ofBrowser: 'Die des Browsers',
    address: 'E-Mail-Adresse',
    verified: 'bestätigt',
    unverified: 'nicht bestätigt',
    picture: 'Ihr Bild',
    removePicture: 'Bild entfernen',
    newPicture: 'Bild: JPEG, PNG, WebP oder GIF, höchstens 2 MiB',
    upload: 'Bild hochladen',
    account: 'Konto für Projekte',
    accountAbout: 'Ein Konto brauchen Sie nur für eigene Projekte. Apps funktionieren ohne.',
    createAccount: 'Konto erstellen',
  },
  es: {
    name: 'Nombre',
    language: 'Idioma de sus correos',
    ofBrowser: 'El del navegador',
    address: 'Correo electrónico',
    verified: 'verificado',
    unverified: 'sin verificar',
    picture: 'Su imagen',
    removePicture: 'Quitar la imagen',
    newPicture: 'Imagen: JPEG, PNG, WebP o GIF, como máximo 2 MiB',
    upload: 'Subir la imagen',
    account: 'Cuenta para proyectos',
    accountAbout:
      'Solo necesita una cuenta para crear proyectos propios. Las aplicaciones funcionan sin ella.',
    createAccount: 'Crear una cuenta',
  },
  fr: {
    name: 'Nom',
    language: 'Langue de vos e-mails',
    ofBrowser: 'Celle du navigateur',
    address: 'Adresse e-mail',
    verified: 'vérifiée',
    unverified: 'non vérifiée',
    picture: 'Votre image',
    removePicture: 'Retirer l’image',
    newPicture: 'Image : JPEG, PNG, WebP ou GIF, 2 Mio au plus',
    upload: 'Envoyer l’image',
    account: 'Compte pour des projets',
    accountAbout:
      'Un compte ne vous sert qu’à créer vos propres projets. Les applications fonctionnent sans.',
    createAccount: 'Créer un compte',
  },
};

const names: Record<Language, string> = { en: 'English', de: 'Deutsch', es: 'Español', fr: 'Français' };

interface Me {
  readonly user: {
    readonly name: string;
    readonly email: string | null;
    readonly locale: Language | null;
    readonly pictureUrl: string | null;
  };
  readonly emailVerified: boolean;
  readonly accounts: readonly unknown[];
}

const section = 'profile';

/** Lets users change their name, language and picture, and create an account for projects. */
export const profilePage: AccountPage = {
  section,
  lengths: { name: 255 },
  async body(view) {
    const { language, caller, entered } = view;
    const words = texts[language];
    const { user, emailVerified, accounts } = (await caller.call('me', {})) as Me;
    const locale = entered['locale'] ?? user.locale ?? '';
    const option = (value: string, label: string) =>
      html`<option value="${value}" ${value === locale && html`selected`}>${label}</option>`;
    const fields = html`${textField({
        id: 'name',
        label: words.name,
        value: entered['name'] ?? user.name,
        problem: problemOf(view, 'profile', 'name'),
        attributes: html`autocomplete="name" maxlength="255"`,
      })}
      <label for="locale">${words.language}</label>
      <select id="locale" name="locale">
        ${option('', words.ofBrowser)} ${languages.map((each) => option(each, names[each]))}
      </select>`;
    const picture = textField({
      id: 'file',
      label: words.newPicture,
      problem: problemOf(view, 'upload', 'file'),
      attributes: html`type="file" accept="image/jpeg,image/png,image/webp,image/gif"`,
    });
    const verified = emailVerified ? words.verified : words.unverified;
    return html`${user.email !== null && html`<p>${words.address}: ${user.email} (${verified})</p>`}
      ${accountForm(view, { name: 'profile', section, button: accountTexts[language].save, fields })}
      <h2>${words.picture}</h2>
      ${
        user.pictureUrl !== null &&
        html`<img
          class="own-picture"
          src="${user.pictureUrl}"
          alt="${words.picture}"
          width="96"
          height="96"
        />`
      }
      ${accountForm(view, {
        ...{ name: 'upload', section, button: words.upload, fields: picture },
        ...{ isQuiet: true, hasFile: true as const },
      })}
      ${
        user.pictureUrl !== null &&
        accountForm(view, { name: 'picture', section, button: words.removePicture, isQuiet: true })
      }
      ${
        accounts.length === 0 &&
        html`<h2>${words.account}</h2>
          <p>${words.accountAbout}</p>
          ${accountForm(view, { name: 'account', section, button: words.createAccount, isQuiet: true })}`
      }`;
  },
  forms: {
    async profile({ name = '', locale = '' }, { caller }) {
      await caller.call('updateMe', { name, locale: locale === '' ? null : locale });
      return 'saved';
    },
    async upload({ file = '' }, { caller, language }) {
      try {
        await caller.call('uploadMyPicture', { file });
      } catch (error) {
        const isNoPicture = error instanceof DoorwardError && [413, 415].includes(error.status);
        throw isNoPicture ? new FieldProblem('file', texts[language].newPicture) : error;
      }
      return 'saved';
    },
    async picture(_form, { caller }) {
      await caller.call('updateMe', { pictureUrl: null });
      return 'saved';
    },
    async account(_form, { caller }) {
      await caller.call('createMyAccount', { type: 'personal' });
      return 'saved';
    },
  },
};
