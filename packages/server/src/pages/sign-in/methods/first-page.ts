import { fillSentence } from '../../../html/fill-sentence.ts';
import { githubMark } from '../../../html/github-mark.ts';
import { html, type Html } from '../../../html/html.ts';
import type { Language } from '../../../languages.ts';
import type { PageWithForm } from '../../page.ts';
import { appPage, hiddenField } from '../app-page.ts';
import { cancelForm, noticeParagraph } from '../page-parts.ts';
import { signInTexts } from '../project-sign-in-texts.ts';
import { companyTexts } from './company-texts.ts';
import { mailedCodePage } from './code-page.ts';
import { inFlow } from '../../../http/cookies/flow-cookies.ts';
import { formAddress, scriptPath, type Form } from './form-address.ts';
import { emailField, field, passwordField, problemAt, passwordRule } from './form-parts.ts';
import { methodTexts } from './method-texts.ts';
import { passkeyForm } from './passkey-form.ts';
import { noticeTexts } from './notice-texts.ts';
import type { PageState } from '../../../sign-in/page-state/page-state.ts';

/**
 * The first page of a sign-in shows one form at a time: the form that the URL names, else the form that was sent last.
 * It needs no script: links lead from one form to another.
 */
export function firstPage(language: Language, state: PageState, asked: Form | undefined): PageWithForm {
  const { signIn } = state;
  const form = asked ?? signIn.form ?? 'signIn';
  // A form does not show the problems of another form.
  const seen = form === (signIn.form ?? 'signIn') ? state : withoutOutcome(state);
  if (asked === undefined && signIn.mailedTo !== null)
    return mailedCodePage(language, state, signIn.mailedTo);
  if (form === 'signUp' && signIn.allowsSignUp) return signUpPage(language, seen);
  if (form === 'reset' && state.providers.includes('password')) return resetPage(language, seen);
  const hasWays = state.providers.includes('password') || signIn.connection !== null;
  const isKnown = form !== 'address' && signIn.address !== null && hasWays;
  return isKnown ? methodPage(language, seen, signIn.address) : addressPage(language, seen);
}

const withoutOutcome = (state: PageState): PageState => ({
  ...state,
  notice: null,
  signIn: { ...state.signIn, problems: [], entered: {} },
});

/** Notices that are shown at a field and not above the form. */
const atField = ['addressInvalid', 'wrongMailedCode', 'mailedCodeEnded'];

/** Returns the message about the last attempt, shown above the form. */
function noticeAbove(language: Language, { notice, provider, signIn }: PageState): Html | false {
  const notices = noticeTexts[language];
  if (notice === 'connectionRequired')
    return noticeParagraph(fillSentence(companyTexts[language].required, { provider: provider ?? '' }));
  if (notice === null || atField.includes(notice) || !(notice in notices)) return false;
  const isOfCompany = notice === 'emailNotVerified' && signIn.connection?.name === provider;
  const sentence = isOfCompany
    ? companyTexts[language].emailNotVerified
    : notices[notice as keyof typeof notices];
  const text = fillSentence(sentence, { provider: provider ?? '' });
  return notice === 'passwordChanged'
    ? html`<p role="status" class="good">${text}</p>`
    : noticeParagraph(text);
}

/** The page that asks for the address, or leads to a provider. */
function addressPage(language: Language, state: PageState): PageWithForm {
  const texts = methodTexts[language];
  const { providers, formToken, loginHint, signIn } = state;
  // If the sign-in methods depend on the address, the form looks them up. Otherwise it requests a mailed code.
  const asksFirst = providers.includes('password') || signIn.hasConnections;
  const takesAddress = asksFirst || providers.includes('email');
  const takesPasskey = providers.includes('passkey');
  const byAddress = html`<form
    method="post"
    action="${asksFirst ? '/api/auth/flow/identifier' : '/api/auth/project/email/request'}"
  >
    ${hiddenField('form_token', formToken)}
    ${emailField(language, {
      value: signIn.entered.email ?? loginHint ?? '',
      isInvalid: state.notice === 'addressInvalid',
      autocomplete: takesPasskey ? 'username webauthn' : asksFirst ? 'username' : 'email',
      hint: asksFirst ? undefined : texts.addressHint,
    })}
    <button>${asksFirst ? texts.next : texts.send}</button>
  </form>`;
  const bySites = state.identityProviders.map(
    ({ key, name, logoUrl }) =>
      html`<a class="button plain site" href="${inFlow(providerPath(key), formToken)}"
        >${key === 'github' ? githubMark : logoOf(logoUrl)}<span
          >${fillSentence(texts.provider, { provider: name })}</span
        ></a
      >`,
  );
  const ways = [
    takesAddress && [byAddress, takesPasskey && passkeyForm(language, state, { or: texts.or })],
    !takesAddress && takesPasskey && passkeyForm(language, state),
    bySites.length > 0 && bySites,
  ].filter((way) => way !== false);
  const intro = state.app.intro[language];
  const body = html`${intro !== undefined && html`<p class="intro">${intro}</p>`}
  ${noticeAbove(language, state)}
  ${ways.map((way, index) => [index > 0 && html`<p class="or">${texts.or}</p>`, way])}
  ${signIn.allowsSignUp && html`<p class="other"><a href="${formAddress('sign-up', formToken)}">${texts.noAccountYet}</a></p>`}
  ${cancelForm(language, state)}`;
  const script = takesPasskey ? { script: scriptPath } : {};
  const showsLogo = state.identityProviders.some(({ key, logoUrl }) => key !== 'github' && logoUrl !== null);
  return page(language, state, { title: texts.title, body, images: showsLogo ? ["'self'"] : [], ...script });
}

/** A logo by the path of its address only, because the page may be open under another host name of this service. */
const logoOf = (logoUrl: string | null): Html | false =>
  logoUrl !== null && html`<img src="${new URL(logoUrl).pathname}" alt="" width="20" height="20" />`;

const providerPath = (key: string): string =>
  `/api/auth/project/${key === 'github' ? 'github' : `providers/${key}`}`;

/** The page with the sign-in methods for an address, which are the same for every address of its domain. */
function methodPage(language: Language, state: PageState, address: string | null): PageWithForm {
  const texts = methodTexts[language];
  const { connection } = state.signIn;
  const isWrong = state.notice === 'wrongPassword';
  const own = ownWays(language, state, address);
  const body = html`${!isWrong && noticeAbove(language, state)}
    <p class="person">
      <bdi>${address}</bdi> <a href="${formAddress('address', state.formToken)}">${texts.otherAddress}</a>
    </p>
    ${connection === null ? own : [companyWay(language, connection, state), besides(language, { connection, isWrong, own })]}
    ${cancelForm(language, state)}`;
  return page(language, state, { title: texts.title, body, script: scriptPath });
}

/** The sign-in methods that belong to the person and not to their organization: password, mailed code and passkey. */
function ownWays(language: Language, state: PageState, address: string | null): Html[] {
  const texts = methodTexts[language];
  const { formToken, providers } = state;
  const kept = html`${hiddenField('form_token', formToken)} ${hiddenField('email', address ?? '')}`;
  const password = html`<form method="post" action="/api/auth/flow/password">
    ${hiddenField('form_token', formToken)}
    <input type="email" name="email" value="${address}" autocomplete="username" hidden readonly />
    ${passwordField(language, {
      name: 'password',
      label: texts.password,
      autocomplete: providers.includes('passkey') ? 'current-password webauthn' : 'current-password',
      isFirst: state.signIn.connection === null,
      problem: state.notice === 'wrongPassword' ? noticeTexts[language].wrongPassword : undefined,
    })}
    <button>${texts.signIn}</button>
  </form>`;
  const mail = html`<form method="post" action="/api/auth/project/email/request">
    ${kept}
    <button class="plain">${texts.mailInstead}</button>
  </form>`;
  const takesPassword = providers.includes('password');
  return [
    ...(takesPassword ? [password] : []),
    ...(providers.includes('email') ? [mail] : []),
    ...(providers.includes('passkey') ? [passkeyForm(language, state, { or: texts.or })] : []),
    ...(takesPassword
      ? [html`<p class="other"><a href="${formAddress('reset', formToken)}">${texts.forgot}</a></p>`]
      : []),
  ];
}

type Connection = NonNullable<PageState['signIn']['connection']>;

/** The link to the identity provider of the organization to which the domain of the address belongs. */
const companyWay = (
  language: Language,
  { id, name, enforced }: Connection,
  { notice, formToken }: Pick<PageState, 'notice' | 'formToken'>,
): Html =>
  html`${enforced && notice !== 'connectionRequired' && html`<p>${fillSentence(companyTexts[language].enforced, { provider: name })}</p>`}
    <a class="button" href="${inFlow(`/api/auth/project/connections/${id}`, formToken)}"
      >${fillSentence(methodTexts[language].provider, { provider: name })}</a
    >`;

/**
 * The person's own sign-in methods. If the organization requires its provider, they are folded away, because only
 * owners with a second factor reach the organization through them.
 */
function besides(
  language: Language,
  {
    connection,
    isWrong,
    own,
  }: { readonly connection: Connection; readonly isWrong: boolean; readonly own: Html[] },
): Html | false {
  if (own.length === 0) return false;
  if (!connection.enforced)
    return html`<p class="or">${methodTexts[language].or}</p>
      ${own}`;
  return html`<details${isWrong && html` open`}>
    <summary>${companyTexts[language].otherWays}</summary>
    ${own}
  </details>`;
}

function signUpPage(language: Language, state: PageState): PageWithForm {
  const texts = methodTexts[language];
  const { signIn, providers, formToken, loginHint } = state;
  const { entered } = signIn;
  const takesPassword = providers.includes('password');
  const body = html`${noticeAbove(language, state)}
    <form method="post" action="/api/auth/flow/sign-up">
      ${hiddenField('form_token', formToken)}
      ${field({
        name: 'name',
        label: texts.signUp.name,
        attributes: html`autocomplete="name" maxlength="255" value="${entered.name ?? ''}" autofocus`,
      })}
      ${emailField(language, {
        value: entered.email ?? loginHint ?? '',
        isInvalid: state.notice === 'addressInvalid',
        hint: texts.signUp.hint,
        isFirst: false,
      })}
      ${
        takesPassword &&
        passwordField(language, {
          name: 'password',
          label: texts.password,
          autocomplete: 'new-password',
          minLength: signIn.passwordMinLength,
          hint: passwordRule(language, signIn.passwordMinLength),
          problem: problemAt(language, state, 'password'),
        })
      }
      <button>${texts.signUp.button}</button>
    </form>
    <p class="other"><a href="${formAddress('address', formToken)}">${texts.signUp.back}</a></p>
    ${cancelForm(language, state)}`;
  const script = takesPassword ? { script: scriptPath } : {};
  return page(language, state, { title: texts.signUp.title, body, ...script });
}

function resetPage(language: Language, state: PageState): PageWithForm {
  const { reset } = methodTexts[language];
  const { signIn, formToken, loginHint } = state;
  const body = html`${noticeAbove(language, state)}
    <form method="post" action="/api/auth/flow/reset/request">
      ${hiddenField('form_token', formToken)}
      ${emailField(language, {
        value: signIn.entered.email ?? signIn.address ?? loginHint ?? '',
        isInvalid: state.notice === 'addressInvalid',
        hint: reset.hint,
      })}
      <button>${reset.button}</button>
    </form>
    <p class="other"><a href="${formAddress('address', formToken)}">${reset.back}</a></p>
    ${cancelForm(language, state)}`;
  return page(language, state, { title: reset.title, body });
}

const page = (
  language: Language,
  state: PageState,
  parts: {
    readonly title: string;
    readonly body: Html;
    readonly script?: string;
    readonly images?: readonly string[];
  },
): PageWithForm => appPage({ language, state, place: signInTexts[language].place, ...parts });
