import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { fillSentence } from '../../html/fill-sentence.ts';
import { deviceQuestion } from '../device/device-page.ts';
import { deviceTexts } from '../device/device-texts.ts';
import type { PageWithForm } from '../page.ts';
import { organizationTexts } from './organization/organization-choice-texts.ts';
import { appPage, hiddenField } from './app-page.ts';
import type { PageState } from '../../sign-in/page-state/page-state.ts';

interface Texts {
  readonly title: string;
  readonly titleOfNothing: string;
  readonly asks: string;
  readonly everything: string;
  readonly nothing: string;
  /** The sentence before the permissions that the user does not hold yet. */
  readonly later: string;
  /** The sentence before what the app learns by the scopes of OpenID Connect. */
  readonly learns: string;
  readonly identity: Readonly<Record<PageState['openid'][number], string>>;
  readonly limits: string;
  readonly signedInAs: string;
  readonly approve: string;
  readonly approveNothing: string;
  readonly deny: string;
  /** Says to which project the app belongs; `makerIn` also names the organization of the project. */
  readonly maker: string;
  readonly makerIn: string;
  readonly place: string;
  readonly home: string;
}

const texts: Record<Language, Texts> = {
  en: {
    title: '{app} would like to access your account',
    titleOfNothing: 'Sign in to {app}?',
    asks: 'If you allow it, {app} gets these permissions:',
    everything: 'If you allow it, {app} can do everything that you can do in this project.',
    nothing:
      '{app} will see your name, e-mail address and picture. It will not be able to do anything on your behalf.',
    later: 'You don’t have these permissions yet. {app} gets each of them once you do:',
    learns: '{app} gets:',
    identity: {
      openid: 'a number by which it recognizes you',
      profile: 'your name, picture and language',
      email: 'your e-mail address',
      offline_access: 'access that lasts after you close {app}, for 30 days at most',
    },
    limits: '{app} can never do more than you can. You can revoke its access at any time.',
    signedInAs: 'You are signed in as',
    approve: 'Allow',
    approveNothing: 'Sign in',
    deny: 'Do not allow',
    maker: '{app} is an app of the project {project}. It uses Doorward to sign you in.',
    makerIn:
      '{app} is an app of the project {project} in the organization {organization}. It uses Doorward to sign you in.',
    place:
      'Both buttons take you back to {place}. If you did not start this sign-in, select “Do not allow”: {app} then gets no access.',
    home: 'About {app}:',
  },
  de: {
    title: '{app} möchte auf Ihr Konto zugreifen',
    titleOfNothing: 'Bei {app} anmelden?',
    asks: 'Wenn Sie es erlauben, erhält {app} diese Berechtigungen:',
    everything: 'Wenn Sie es erlauben, kann {app} alles tun, was Sie in diesem Projekt tun dürfen.',
    nothing:
      '{app} erhält Ihren Namen, Ihre E-Mail-Adresse und Ihr Bild, kann aber nichts in Ihrem Namen tun.',
    later: 'Diese Berechtigungen haben Sie noch nicht. {app} erhält sie, sobald Sie sie haben:',
    learns: '{app} erhält:',
    identity: {
      openid: 'eine Nummer, an der es Sie erkennt',
      profile: 'Ihren Namen, Ihr Bild und Ihre Sprache',
      email: 'Ihre E-Mail-Adresse',
      offline_access: 'Zugriff auch nach dem Schließen von {app}, höchstens 30 Tage',
    },
    limits:
      '{app} kann nie mehr tun, als Sie selbst dürfen. Sie können den Zugriff jederzeit wieder entziehen.',
    signedInAs: 'Sie sind angemeldet als',
    approve: 'Erlauben',
    approveNothing: 'Anmelden',
    deny: 'Nicht erlauben',
    maker: '{app} ist eine App des Projekts {project} und meldet Sie über Doorward an.',
    makerIn:
      '{app} ist eine App des Projekts {project} der Organisation {organization} und meldet Sie über Doorward an.',
    place:
      'Beide Schaltflächen führen Sie zurück zu {place}. Wenn Sie diese Anmeldung nicht begonnen haben, wählen Sie „Nicht erlauben“: {app} erhält dann keinen Zugriff.',
    home: 'Über {app}:',
  },
  es: {
    title: '{app} quiere acceder a su cuenta',
    titleOfNothing: '¿Iniciar sesión en {app}?',
    asks: 'Si lo permite, {app} tendrá estos permisos:',
    everything: 'Si lo permite, {app} podrá hacer todo lo que usted puede hacer en este proyecto.',
    nothing: '{app} verá su nombre, su dirección de correo y su imagen. No podrá hacer nada en su nombre.',
    later: 'Usted todavía no tiene estos permisos. {app} los tendrá en cuanto usted los tenga:',
    learns: '{app} recibe:',
    identity: {
      openid: 'un número con el que le reconoce',
      profile: 'su nombre, su imagen y su idioma',
      email: 'su dirección de correo',
      offline_access: 'acceso después de cerrar {app}, durante 30 días como máximo',
    },
    limits:
      '{app} nunca podrá hacer más de lo que puede hacer usted. Puede retirarle el acceso en cualquier momento.',
    signedInAs: 'Ha iniciado sesión como',
    approve: 'Permitir',
    approveNothing: 'Iniciar sesión',
    deny: 'No permitir',
    maker: '{app} es una aplicación del proyecto {project}. Usa Doorward para iniciar su sesión.',
    makerIn:
      '{app} es una aplicación del proyecto {project} de la organización {organization}. Usa Doorward para iniciar su sesión.',
    place:
      'Con ambos botones volverá a {place}. Si usted no ha iniciado esta sesión, elija «No permitir»: {app} no tendrá acceso.',
    home: 'Acerca de {app}:',
  },
  fr: {
    title: '{app} souhaite accéder à votre compte',
    titleOfNothing: 'Se connecter à {app} ?',
    asks: 'Si vous l’autorisez, {app} obtiendra ces autorisations :',
    everything: 'Si vous l’autorisez, {app} pourra faire tout ce que vous pouvez faire dans ce projet.',
    nothing:
      '{app} verra votre nom, votre adresse e-mail et votre photo, mais ne pourra rien faire en votre nom.',
    later: 'Vous n’avez pas encore ces autorisations. {app} les obtiendra dès que vous les aurez :',
    learns: '{app} reçoit :',
    identity: {
      openid: 'un numéro qui permet de vous reconnaître',
      profile: 'votre nom, votre photo et votre langue',
      email: 'votre adresse e-mail',
      offline_access: 'un accès qui dure après la fermeture de {app}, 30 jours au plus',
    },
    limits: '{app} ne pourra jamais faire plus que vous. Vous pouvez lui retirer l’accès à tout moment.',
    signedInAs: 'Vous êtes connecté en tant que',
    approve: 'Autoriser',
    approveNothing: 'Se connecter',
    deny: 'Ne pas autoriser',
    maker: '{app} est une application du projet {project}. Elle utilise Doorward pour vous connecter.',
    makerIn:
      '{app} est une application du projet {project} de l’organisation {organization}. Elle utilise Doorward pour vous connecter.',
    place:
      'Les deux boutons vous ramènent à {place}. Si vous n’avez pas commencé cette connexion, choisissez « Ne pas autoriser » : {app} n’aura alors aucun accès.',
    home: 'À propos de {app} :',
  },
};

/**
 * Makes the page on which the user allows or denies what the app requests. Both buttons have the same size, so that the
 * page favours neither. `host` is the host of this service in the address that the browser opened.
 */
export function consentPage(language: Language, state: PageState, host: string): PageWithForm {
  const sentences = texts[language];
  const { title, titleOfNothing, approve, approveNothing, deny, place } = sentences;
  const requestsNothing = state.scopes?.length === 0 && state.later.length === 0;
  const body = html`${person(sentences, state, host)} ${organization(language, state)}
    ${state.device !== null && deviceQuestion(language, state.device)} ${identity(sentences, state)}
    ${requested(sentences, state)} ${maker(sentences, state)}
    <form method="post" action="/api/auth/project/consent/approve">
      ${hiddenField('consent_token', state.formToken)}
      <button>${requestsNothing ? approveNothing : approve}</button>
      <button class="plain" formaction="/api/auth/project/consent/deny">${deny}</button>
    </form>
    ${homepage(sentences, state)}`;
  return appPage({
    language,
    state,
    title: requestsNothing ? titleOfNothing : title,
    body,
    place: state.device === null ? place : deviceTexts[language].advice,
    images: ["'self'"],
  });
}

/** The signed-in person. A picture of another site is not shown: that site would learn who signs in here, and when. */
function person({ signedInAs }: Pick<Texts, 'signedInAs'>, { user }: PageState, host: string): Html | null {
  if (!user) return null;
  const { displayName, email, pictureUrl } = user;
  const address = email !== null && html`<bdi>${email}</bdi>`;
  const picture = pictureUrl === null ? null : new URL(pictureUrl);
  return html`<div class="person">
    ${picture?.host === host && html`<img src="${picture.pathname}" alt="" width="44" height="44" />`}
    <p>
      ${signedInAs} <strong><bdi>${displayName}</bdi></strong
      >${address}
    </p>
  </div>`;
}

/** The sentence about the organization for which the user signs in. The consent includes this organization. */
const organization = (language: Language, { organization: name }: PageState): Html | null =>
  name === null
    ? null
    : html`<p>${fillSentence(organizationTexts[language].signsInFor, { organization: name })}</p>`;

/** Shows what the app will learn about the user, if it requests scopes of OpenID Connect. */
function identity(
  { learns, identity: texts }: Pick<Texts, 'learns' | 'identity'>,
  { app: { name: app }, openid }: PageState,
): Html | null {
  if (openid.length === 0) return null;
  const items = openid.map((scope) => html`<li>${fillSentence(texts[scope], { app })}</li>`);
  return html`<p id="learns">${fillSentence(learns, { app })}</p>
    <ul class="scopes" aria-labelledby="learns">
      ${items}
    </ul>`;
}

/** Shows what the app will be able to do. */
function requested(
  { asks, everything, nothing, later: whenHeld, limits }: Texts,
  { app: { name: app }, scopes, later, openid }: PageState,
): Html | null {
  const requestsNothing = scopes?.length === 0 && later.length === 0;
  if (requestsNothing && openid.length > 0) return null;
  if (requestsNothing) return html`<p>${fillSentence(nothing, { app })}</p>`;
  const limited = html`<p>${fillSentence(limits, { app })}</p>`;
  if (scopes === null)
    return html`<p>${fillSentence(everything, { app })}</p>
      ${limited}`;
  return html`${scopes.length > 0 && permissions('wanted', fillSentence(asks, { app }), scopes)}
  ${later.length > 0 && permissions('later', fillSentence(whenHeld, { app }), later)} ${limited}`;
}

/** Makes a list of permissions below a sentence. */
const permissions = (id: string, sentence: Html, scopes: PageState['later']): Html =>
  html`<p id="${id}">${sentence}</p>
    <ul class="scopes" aria-labelledby="${id}">
      ${scopes.map(permission)}
    </ul>`;

/** A permission without a name of its own is named like its scope, `order:read`; then its description comes first. */
function permission({ scope, name, description }: PageState['later'][number]): Html {
  const [first, second] = name === scope && description !== null ? [description, scope] : [name, description];
  return html`<li><bdi>${first}</bdi>${second !== null && html`<small>${second}</small>`}</li>`;
}

/** Says who made the app, because an app can have the name of a well-known site. */
function maker(
  { maker: inProject, makerIn: inOrganization }: Pick<Texts, 'maker' | 'makerIn'>,
  { app: { name: app }, maker: owner }: PageState,
): Html | null {
  if (!owner) return null;
  const { project, organization } = owner;
  const sentence =
    organization === null
      ? fillSentence(inProject, { app, project })
      : fillSentence(inOrganization, { app, project, organization });
  return html`<p><small>${sentence}</small></p>`;
}

function homepage(
  { home }: Pick<Texts, 'home'>,
  { app: { name: app, homepageUrl } }: PageState,
): Html | null {
  if (homepageUrl === null) return null;
  const { host } = new URL(homepageUrl);
  return html`<p class="place">
    ${fillSentence(home, { app })}
    <a href="${homepageUrl}" target="_blank" rel="noopener noreferrer">${host}</a>
  </p>`;
}
