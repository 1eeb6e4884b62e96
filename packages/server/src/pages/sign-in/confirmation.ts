import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import { flowSecretIn } from '../../http/cookies/flow-cookies.ts';
import type { Language } from '../../languages.ts';
import { fillSentence } from '../../html/fill-sentence.ts';
import type { OnwardLink } from '../onward.ts';
import { hostedPage, servePage, type Page } from '../page.ts';
import { hiddenField } from './app-page.ts';

/** The texts of a confirmation page. `asks` is a sentence with placeholders. */
export interface ConfirmationTexts {
  readonly title: string;
  readonly asks: string;
  readonly warning: string;
  readonly approve: string;
  readonly deny: string;
  readonly over: string;
}

/** The decision that a user has to make in the browser that has the flow cookie. */
export interface Question {
  readonly formToken: string;
  /** The address to which the browser is redirected after the decision. */
  readonly redirect: string;
}

interface Confirmation<Q extends Question> {
  readonly path: string;
  readonly https: boolean;
  /** The texts of the page; the question is null if none is pending. */
  readonly texts: (question: Q | null) => Record<Language, ConfirmationTexts>;
  /** The address to which the form posts the decision. */
  readonly action: string;
  readonly questionFor: (flowCookie: string) => Promise<Q | null>;
  /** The link for people who come back to a question that has been answered. */
  readonly onwardLink: OnwardLink;
  /** Returns the details below the question, which the user has to compare. */
  readonly details?: (language: Language, question: Q) => Html | null;
  /** The values for the placeholders of `asks`. */
  readonly namesIn: (question: Q) => Readonly<Record<string, string>>;
  /** Returns the source for `redirect` that the policy of the form allows. */
  readonly formTarget: (redirect: URL) => string;
}

function page<Q extends Question>(
  language: Language,
  question: Q | null,
  onward: Html | null,
  { texts, action, details, namesIn, formTarget }: Confirmation<Q>,
): Page {
  const { title, asks, warning, approve, deny, over } = texts(question)[language];
  if (!question) {
    const body = html`<h1>${title}</h1>
      <p role="status" class="bad">${over}</p>
      ${onward}`;
    return hostedPage({ language, title, body });
  }
  const body = html`<h1>${title}</h1>
    <p>${fillSentence(asks, namesIn(question))}</p>
    ${details?.(language, question)}
    <p>${warning}</p>
    <form method="post" action="${action}">
      ${hiddenField('formToken', question.formToken)}
      <button name="decision" value="approve">${approve}</button>
      <button name="decision" value="deny" class="quiet">${deny}</button>
    </form>`;
  return {
    html: hostedPage({ language, title, body }),
    formAction: `'self' ${formTarget(new URL(question.redirect))}`,
  };
}

/**
 * Serves a page on which the user approves or denies a request. The form has no script: its token together with the
 * flow cookie authenticates the decision. The page reads the request from the flow and nothing from its address.
 */
export const registerConfirmationPage = <Q extends Question>(
  app: FastifyInstance,
  confirmation: Confirmation<Q>,
): void =>
  servePage(app, {
    path: confirmation.path,
    page: async (language, request) => {
      const cookie = flowSecretIn(request, confirmation.https);
      const question = cookie === null ? null : await confirmation.questionFor(cookie);
      const onward = question ? null : await confirmation.onwardLink(request, language);
      return page(language, question, onward, confirmation);
    },
  });
