import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import type { PageWithForm } from './page.ts';
import { appPage, filled, field, type Standing } from './project-frame.ts';

/** Asks the user whether the app may do for him what it asked for. Both answers are one press away, and look alike. */
interface Texts {
  readonly title: string;
  readonly titleOfNothing: string;
  readonly asks: string;
  readonly everything: string;
  readonly nothing: string;
  readonly limits: string;
  readonly signedInAs: string;
  readonly approve: string;
  readonly approveNothing: string;
  readonly deny: string;
  /** Where the app was made; `makerIn`: in a project of an organization. */
  readonly maker: string;
  readonly makerIn: string;
  readonly place: string;
  readonly home: string;
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'May {app} act for you?',
    titleOfNothing: 'Sign in to {app}?',
    asks: '{app} wants to do this in your name:',
    everything: '{app} wants to do in your name all that you may do in this project.',
    nothing: '{app} only learns who you are: your name, address and picture. It can do nothing in your name.',
    limits: 'It can never do more than you may do yourself. You can end its access at any time.',
    signedInAs: 'You are signed in as',
    approve: 'Allow',
    approveNothing: 'Sign in',
    deny: 'Do not allow',
    maker: '{app} belongs to the project {project} and signs you in through Doorward.',
    makerIn: '{app} belongs to the project {project} of {organization} and signs you in through Doorward.',
    place: 'Either way you go back to {place}.',
    home: 'About {app}:',
  },
  de: {
    title: 'Darf {app} für Sie handeln?',
    titleOfNothing: 'Bei {app} anmelden?',
    asks: '{app} möchte in Ihrem Namen:',
    everything: '{app} möchte in Ihrem Namen alles tun, was Sie in diesem Projekt dürfen.',
    nothing:
      '{app} erfährt nur, wer Sie sind: Ihren Namen, Ihre Adresse und Ihr Bild. In Ihrem Namen tun kann sie nichts.',
    limits: 'Mehr als das, was Sie selbst dürfen, ist nie möglich. Sie können den Zugang jederzeit beenden.',
    signedInAs: 'Sie sind angemeldet als',
    approve: 'Erlauben',
    approveNothing: 'Anmelden',
    deny: 'Nicht erlauben',
    maker: '{app} gehört zum Projekt {project} und meldet Sie über Doorward an.',
    makerIn: '{app} gehört zum Projekt {project} von {organization} und meldet Sie über Doorward an.',
    place: 'In beiden Fällen kehren Sie zu {place} zurück.',
    home: 'Über {app}:',
  },
  es: {
    title: '¿Puede {app} actuar por usted?',
    titleOfNothing: '¿Iniciar sesión en {app}?',
    asks: '{app} quiere hacer esto en su nombre:',
    everything: '{app} quiere hacer en su nombre todo lo que usted puede hacer en este proyecto.',
    nothing:
      '{app} solo sabrá quién es usted: su nombre, su dirección y su imagen. No puede hacer nada en su nombre.',
    limits:
      'Nunca podrá hacer más de lo que usted mismo puede. Puede retirar el acceso en cualquier momento.',
    signedInAs: 'Ha iniciado sesión como',
    approve: 'Permitir',
    approveNothing: 'Iniciar sesión',
    deny: 'No permitir',
    maker: '{app} pertenece al proyecto {project} e inicia su sesión a través de Doorward.',
    makerIn:
      '{app} pertenece al proyecto {project} de {organization} e inicia su sesión a través de Doorward.',
    place: 'En ambos casos volverá a {place}.',
    home: 'Acerca de {app}:',
  },
  fr: {
    title: '{app} peut-elle agir pour vous ?',
    titleOfNothing: 'Se connecter à {app} ?',
    asks: '{app} souhaite faire ceci en votre nom :',
    everything: '{app} souhaite faire en votre nom tout ce que vous pouvez faire dans ce projet.',
    nothing:
      '{app} saura seulement qui vous êtes : votre nom, votre adresse et votre image. Elle ne peut rien faire en votre nom.',
    limits: "Elle ne pourra jamais faire plus que vous-même. Vous pouvez mettre fin à l'accès à tout moment.",
    signedInAs: 'Vous êtes connecté en tant que',
    approve: 'Autoriser',
    approveNothing: 'Se connecter',
    deny: 'Ne pas autoriser',
    maker: '{app} appartient au projet {project} et vous connecte par Doorward.',
    makerIn: '{app} appartient au projet {project} de {organization} et vous connecte par Doorward.',
    place: 'Dans les deux cas, vous reviendrez à {place}.',
    home: 'À propos de {app} :',
  },
};

type Words = Texts & { readonly app: string };

/** `host`: ours, as the browser calls it. */
export function consentPage(language: Language, standing: Standing, host: string): PageWithForm {
  const { app, scopes } = standing;
  const words: Words = { ...texts[language], app: app.name };
  const nothing = scopes?.length === 0;
  const body = `${person(words, standing, host)}
${wanted(words, scopes)}${maker(words, standing)}
      <form method="post" action="/api/auth/project/consent/approve">
        ${field('consent_token', standing.formToken)}
        <button>${escapeHtml(nothing ? words.approveNothing : words.approve)}</button>
        <button class="plain" formaction="/api/auth/project/consent/deny">${escapeHtml(words.deny)}</button>
      </form>${homepage(words, app.homepageUrl)}`;
  const title = nothing ? words.titleOfNothing : words.title;
  return appPage({ language, standing, title, body, place: words.place, images: ["'self'"] });
}

/** A picture of another site is not shown: that site would learn who signs in here, and when. */
function person({ signedInAs }: Words, { user }: Standing, host: string): string {
  if (!user) return '';
  const picture = user.pictureUrl === null ? null : new URL(user.pictureUrl);
  const image =
    picture?.host === host ? `<img src="${escapeHtml(picture.pathname)}" alt="" width="44" height="44">` : '';
  const address = user.email === null ? '' : `<bdi>${escapeHtml(user.email)}</bdi>`;
  return `      <div class="person">${image}
        <p>${escapeHtml(signedInAs)} <strong><bdi>${escapeHtml(user.displayName)}</bdi></strong>${address}</p>
      </div>`;
}

function wanted({ app, ...words }: Words, scopes: Standing['scopes']): string {
  if (scopes === null) return paragraphs(filled(words.everything, { app }), escapeHtml(words.limits));
  if (scopes.length === 0) return paragraphs(filled(words.nothing, { app }));
  const items = scopes.map(({ name, description }) => {
    const more = description === null ? '' : `<small>${escapeHtml(description)}</small>`;
    return `        <li><bdi>${escapeHtml(name)}</bdi>${more}</li>`;
  });
  return `${paragraphs(`<span id="wanted">${filled(words.asks, { app })}</span>`)}
      <ul class="scopes" aria-labelledby="wanted">
${items.join('\n')}
      </ul>
${paragraphs(escapeHtml(words.limits))}`;
}

/** The name of an app is its maker's choice, and can be that of a well-known site: this says whose it is. */
function maker({ app, maker: inProject, makerIn }: Words, { maker: known }: Standing): string {
  if (!known) return '';
  const { project, organization } = known;
  const names = { app, project, ...(organization === null ? {} : { organization }) };
  return `\n${paragraphs(`<small>${filled(organization === null ? inProject : makerIn, names)}</small>`)}`;
}

const paragraphs = (...html: readonly string[]): string =>
  html.map((one) => `      <p>${one}</p>`).join('\n');

function homepage({ app, home }: Words, address: string | null): string {
  if (address === null) return '';
  const link = `<a href="${escapeHtml(address)}" target="_blank" rel="noopener noreferrer">${escapeHtml(new URL(address).host)}</a>`;
  return `\n      <p class="place">${filled(home, { app })} ${link}</p>`;
}
