import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { hostedPage, servePage } from '../page.ts';
import { outcomeParagraph } from './outcome.ts';

interface Texts {
  readonly title: string;
  readonly loading: string;
  /** The placeholders in braces are filled with names from the offer. */
  readonly offer: string;
  readonly how: string;
  readonly outcome: { readonly invalid: string; readonly expired: string; readonly failed: string };
  readonly noScript: string;
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'A project for your organization',
    loading: 'Loading the offer …',
    offer: '{owner} offers your organization the project “{project}”, with these roles: {roles}.',
    how: 'An administrator of your organization accepts it through the API, with the operation acceptProjectGrant and this token, which works once:',
    outcome: {
      invalid: 'This link is not valid, or has been used. Ask the owner of the project for a new one.',
      expired: 'This offer has expired. Ask the owner of the project to send it again.',
      failed: 'That did not work. Please try again in a moment.',
    },
    noScript: 'This page needs JavaScript. Turn it on and reload the page.',
  },
  de: {
    title: 'Ein Projekt für Ihre Organisation',
    loading: 'Das Angebot wird geladen …',
    offer: '{owner} bietet Ihrer Organisation das Projekt „{project}“ mit diesen Rollen an: {roles}.',
    how: 'Wer Ihre Organisation verwaltet, nimmt es über die API an, mit der Operation acceptProjectGrant und diesem Token, das einmal gilt:',
    outcome: {
      invalid:
        'Dieser Link ist ungültig oder wurde schon benutzt. Bitten Sie den Eigentümer des Projekts um einen neuen.',
      expired: 'Dieses Angebot ist abgelaufen. Bitten Sie den Eigentümer des Projekts, es erneut zu senden.',
      failed: 'Das hat nicht funktioniert. Bitte versuchen Sie es gleich noch einmal.',
    },
    noScript: 'Diese Seite benötigt JavaScript. Schalten Sie es ein und laden Sie die Seite neu.',
  },
  es: {
    title: 'Un proyecto para su organización',
    loading: 'Cargando la oferta …',
    offer: '{owner} ofrece a su organización el proyecto «{project}» con estos roles: {roles}.',
    how: 'Quien administra su organización la acepta mediante la API, con la operación acceptProjectGrant y este token, que sirve una sola vez:',
    outcome: {
      invalid: 'Este enlace no es válido o ya se ha usado. Pida uno nuevo al propietario del proyecto.',
      expired: 'Esta oferta ha caducado. Pida al propietario del proyecto que la envíe de nuevo.',
      failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
    },
    noScript: 'Esta página necesita JavaScript. Actívelo y vuelva a cargar la página.',
  },
  fr: {
    title: 'Un projet pour votre organisation',
    loading: 'Chargement de l’offre …',
    offer: '{owner} propose à votre organisation le projet « {project} » avec ces rôles : {roles}.',
    how: 'Une personne qui administre votre organisation l’accepte par l’API, avec l’opération acceptProjectGrant et ce jeton, valable une seule fois :',
    outcome: {
      invalid: 'Ce lien n’est pas valide ou a déjà servi. Demandez-en un nouveau au propriétaire du projet.',
      expired: 'Cette offre a expiré. Demandez au propriétaire du projet de l’envoyer à nouveau.',
      failed: 'Cela n’a pas fonctionné. Réessayez dans un instant.',
    },
    noScript: 'Cette page nécessite JavaScript. Activez-le et rechargez la page.',
  },
};

/**
 * The page to which the mail of a project grant links, for installations without a frontend. Opening it changes
 * nothing. The owner of the project chose the names in the offer, so the script writes them as text only; only the
 * script reads the token.
 */
function page(language: Language): Html {
  const { title, loading, offer, how, outcome, noScript } = texts[language];
  const body = html`<h1>${title}</h1>
    <p id="offer" data-text="${offer}">${loading}</p>
    <div id="how" hidden>
      <p>${how}</p>
      <p><code id="token"></code></p>
    </div>
    ${outcomeParagraph(outcome)}
    <noscript><p>${noScript}</p></noscript>`;
  return hostedPage({ language, title, body, script: '/hosted/project-grant.js' });
}

const script = `const byId = (id) => document.getElementById(id);
const offer = byId('offer');
const outcome = byId('outcome');
const token = new URLSearchParams(location.search).get('token') || '';

const finish = (name) => {
  offer.hidden = true;
  outcome.textContent = outcome.dataset[name];
  outcome.className = 'bad';
};

async function open() {
  if (!token) return finish('invalid');
  const response = await fetch('/api/project-grants/offer/' + encodeURIComponent(token), { credentials: 'omit' });
  const answer = await response.json();
  if (!response.ok) return finish(answer.code === 'NOT_FOUND' ? 'invalid' : 'failed');
  const { owner, project, roles, status } = answer.data;
  if (status !== 'pending') return finish('expired');
  const names = { owner: owner.name, project: project.name, roles: roles.map(({ name }) => name).join(', ') };
  // All placeholders are filled in one pass, so that a name cannot contain a placeholder itself.
  offer.textContent = offer.dataset.text.replace(/[{]([a-z]+)[}]/g, (_, name) => names[name]);
  byId('token').textContent = token;
  byId('how').hidden = false;
}

open().catch(() => finish('failed'));
`;

/** Serves `/hosted/project-grant`. */
export const registerProjectGrantPage = (app: FastifyInstance): void =>
  servePage(app, { path: '/hosted/project-grant', page, script });
