import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fillSentence } from '../../html/fill-sentence.ts';
import { html, type Html } from '../../html/html.ts';
import { nameBrowser } from '../../http/cookies/cookies.ts';
import type { Language } from '../../languages.ts';
import { hostedPage, servePage, type Page } from '../page.ts';
import { deviceTexts } from './device-texts.ts';
import type { ShownDevice } from '../../sign-in/page-state/page-state.ts';

const codePattern = /^[A-Za-z-]{8,9}$/;

const textOf = ({ query }: FastifyRequest, name: string): string => {
  const value = (query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : '';
};

function entryPage(language: Language, code: string, failure: 'wrong' | 'closed' | undefined): Page {
  const texts = deviceTexts[language];
  const body = html`<h1>${texts.title}</h1>
    <p>${texts.text}</p>
    ${failure !== undefined && html`<p role="alert" id="notice" class="bad">${texts[failure]}</p>`}
    <form method="post" action="/api/auth/project/device/enter">
      <label for="user_code">${texts.code}</label>
      <input
        id="user_code"
        name="user_code"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck="false"
        maxlength="16"
        required
        autofocus
        ${code !== '' && html`value="${code}"`}
        aria-describedby="${failure === undefined ? 'hint' : 'notice hint'}"
        ${failure === 'wrong' && html`aria-invalid="true"`}
      />
      <p id="hint">${texts.hint}</p>
      <button>${texts.next}</button>
    </form>
    <p class="place">${texts.warning}</p>`;
  return { html: hostedPage({ language, title: texts.title, body }), formAction: "'self'" };
}

function resultPage(language: Language, result: 'approved' | 'denied'): Page {
  const { title, text } = deviceTexts[language][result];
  const body = html`<h1>${title}</h1>
    <p role="status" class="${result === 'approved' ? 'good' : 'bad'}">${text}</p>`;
  return hostedPage({ language, title, body });
}

/**
 * Serves the page `/device`, where a user enters the code of a device without a browser (RFC 8628). It has no script. A
 * code in its address only fills the field: the user compares it and continues. The results are fixed texts.
 */
export const registerDevicePage = (app: FastifyInstance, { https }: { readonly https: boolean }): void =>
  servePage(app, {
    path: '/device',
    page: (language, request, reply) => {
      const result = textOf(request, 'result');
      if (result === 'approved' || result === 'denied') return resultPage(language, result);
      // Gives the browser an id, so that wrong codes from other browsers do not count for this browser.
      nameBrowser(request, reply, https);
      const code = textOf(request, 'user_code');
      const failure = result === 'wrong' || result === 'closed' ? result : undefined;
      return entryPage(language, codePattern.test(code) ? code.toUpperCase() : '', failure);
    },
  });

/** Limits the length of names, because a longer name could be a message to the user. */
const MOST_OF_A_NAME = 80;

/**
 * The part of the consent page that lets the user compare the request with their device. The program on the device
 * chose its own name, so the name is only shown as text.
 */
export function deviceQuestion(language: Language, device: ShownDevice): Html {
  const texts = deviceTexts[language];
  const { address, isOwnNetwork, userAgent, userCode } = device;
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short', timeZone: 'UTC' }).format(
    new Date(device.beganAt),
  );
  const origin =
    address === null
      ? texts.unknownAddress
      : html`${fillSentence(texts.requestedAt, { time: `${time} UTC`, address })}
        ${isOwnNetwork ? texts.ownNetwork : texts.otherNetwork}`;
  return html`<p>${texts.compare}</p>
    <p class="code"><strong>${userCode}</strong></p>
    <p>${origin}</p>
    ${userAgent !== null && html`<p>${texts.program} <bdi>${userAgent.slice(0, MOST_OF_A_NAME)}</bdi></p>`}`;
}
