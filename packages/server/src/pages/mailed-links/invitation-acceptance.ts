import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DoorwardError } from '../../errors.ts';
import { fillSentence } from '../../html/fill-sentence.ts';
import { html, type Html } from '../../html/html.ts';
import type { AccountCaller, AccountCalls } from '../../http/account/account-calls.ts';
import { languageOf } from '../../http/send-error.ts';
import type { Language } from '../../languages.ts';
import { hostedPage, pagePolicy, setPageHeaders } from '../page.ts';
import type { PageSettings } from '../page-settings.ts';
import { hiddenField } from '../sign-in/app-page.ts';
import { invitationTexts } from './invitation-texts.ts';

/** Below `/account`, because browsers send the cookie of the account pages only there. */
export const acceptancePath = '/account/invitation';

/** The members of an invitation that the page shows. */
interface Offer {
  readonly email: string;
  readonly status: string;
  readonly organization: { readonly name: string };
  readonly role: { readonly name: string };
  readonly inviter: { readonly name: string };
}

type Outcome = keyof (typeof invitationTexts)['en']['outcome'];

/** The outcomes that the page shows for error codes. `outcomeOf` handles all other codes. */
const outcomes: Readonly<Partial<Record<string, Outcome>>> = {
  NOT_FOUND: 'invalid',
  INVALID_TOKEN: 'expired',
  INVALID_STATE: 'closed',
  EMAIL_VERIFICATION_REQUIRED: 'unverified',
  CONFLICT: 'member',
  RATE_LIMITED: 'later',
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 320) : '');

/**
 * Serves the page on which people accept an invitation if they sign in with a code, a passkey or a provider; the page
 * to which the mail links takes only passwords. Opening this page changes nothing, except that it starts a sign-in if
 * the browser has no session.
 */
export function registerInvitationAcceptance(
  app: FastifyInstance,
  { account, home }: Pick<PageSettings, 'home'> & { readonly account: AccountCalls },
): void {
  app.get(acceptancePath, { config: { forBrowsers: true } }, async (request, reply) => {
    const query = request.query as Readonly<Record<string, unknown>>;
    const token = textOf(query['token']);
    const caller = await account.open(request, reply);
    if (!caller) {
      const page = `${acceptancePath}?${new URLSearchParams({ token }).toString()}`;
      const hint = textOf(query['login_hint']);
      return reply.redirect(account.signInAddress(page, hint === '' ? {} : { login_hint: hint }), 303);
    }
    return send(request, reply, await offerPage(languageOf(request), caller, token));
  });

  app.post(acceptancePath, { config: { takesForm: true, forBrowsers: true } }, async (request, reply) => {
    const form = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    const token = textOf(form['token']);
    const caller = await account.open(request, reply);
    if (!caller) return reply.redirect(`${acceptancePath}?${new URLSearchParams({ token }).toString()}`, 303);
    account.assertOwnForm(request, caller, form['form_token']);
    const language = languageOf(request);
    const offer = await offerOf(caller, token);
    if ('outcome' in offer) return send(request, reply, outcomePage(language, offer));
    try {
      await caller.call('acceptInvitation', { token });
      return await send(request, reply, outcomePage(language, { outcome: 'done', offer }));
    } catch (error) {
      reply.status(refusalOf(error).status);
      return send(request, reply, outcomePage(language, { outcome: outcomeOf(error), offer }));
    }
  });

  async function offerPage(language: Language, caller: AccountCaller, token: string): Promise<Html> {
    const { title, offer: sentence, signedIn } = invitationTexts[language];
    const offer = await offerOf(caller, token);
    if ('outcome' in offer) return outcomePage(language, offer);
    const body = html`<h1>${title}</h1>
      <p>${fillSentence(sentence, namesIn(offer))}</p>
      <form method="post" action="${acceptancePath}">
        ${hiddenField('form_token', caller.formToken)} ${hiddenField('token', token)}
        <button>${signedIn.accept}</button>
      </form>`;
    return hostedPage({ language, title, body });
  }

  function outcomePage(
    language: Language,
    { outcome, offer }: { readonly outcome: Outcome | 'otherUser'; readonly offer?: Offer },
  ): Html {
    const { title, goOn, signedIn, outcome: texts } = invitationTexts[language];
    const isGood = outcome === 'done' || outcome === 'member';
    const sentence = outcome === 'otherUser' ? signedIn.otherUser : texts[outcome];
    const [address, name] = outcome === 'otherUser' ? ['/account', signedIn.account] : [home, goOn];
    const body = html`<h1>${title}</h1>
      <p role="status" class="${isGood ? 'good' : 'bad'}">
        ${fillSentence(sentence, offer ? namesIn(offer) : {})}
      </p>
      <p class="other"><a class="button" href="${address}">${name}</a></p>`;
    return hostedPage({ language, title, body });
  }
}

const namesIn = ({ email, organization, role, inviter }: Offer): Record<string, string> => ({
  email,
  organization: organization.name,
  role: role.name,
  inviter: inviter.name,
});

/** Returns the invitation while it can be accepted, otherwise the reason why it cannot. */
async function offerOf(caller: AccountCaller, token: string): Promise<Offer | { readonly outcome: Outcome }> {
  try {
    const offer = (await caller.call('invitation', { token })) as Offer;
    if (offer.status === 'pending') return offer;
    return { outcome: offer.status === 'expired' ? 'expired' : 'closed' };
  } catch (error) {
    return { outcome: outcomeOf(error) === 'otherUser' ? 'invalid' : (outcomeOf(error) as Outcome) };
  }
}

/** Returns the error if it is a refusal. @throws the error itself if it is not */
function refusalOf(error: unknown): DoorwardError {
  if (!(error instanceof DoorwardError) || error.isFault) throw error;
  return error;
}

function outcomeOf(error: unknown): Outcome | 'otherUser' {
  const { code } = refusalOf(error);
  if (code === 'FORBIDDEN') return 'otherUser';
  return outcomes[code] ?? (code === 'VALIDATION_ERROR' ? 'invalid' : 'failed');
}

const send = (
  request: FastifyRequest,
  reply: Parameters<typeof setPageHeaders>[0],
  page: Html,
): Parameters<typeof setPageHeaders>[0] =>
  setPageHeaders(reply, languageOf(request), pagePolicy({ formAction: "'self'" }))
    .header('vary', 'Accept-Language, Cookie')
    .header('referrer-policy', 'same-origin')
    .send(page.toString());
