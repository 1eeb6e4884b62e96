import { html, type Html } from '../../html/html.ts';
import type { AccountCaller } from '../../http/account/account-calls.ts';
import type { Language } from '../../languages.ts';
import { DoorwardError } from '../../errors.ts';
import { hiddenField } from '../sign-in/app-page.ts';
import { field } from '../sign-in/methods/form-parts.ts';
import { methodTexts } from '../sign-in/methods/method-texts.ts';
import { noticeTexts } from '../sign-in/methods/notice-texts.ts';
import { passkeyTexts } from '../sign-in/methods/passkey-form.ts';
import { passkeyUse } from '../passkey-bytes.ts';
import { parsed, pathOf, type Form } from './account-page.ts';
import { accountTexts, type Section } from './account-texts.ts';

/** The proofs with which this user can confirm their identity. */
interface Proofs {
  readonly isEnrolled: boolean;
  readonly hasPasskey: boolean;
}

/** The kind of proof that was refused. */
export type Refused = 'code' | 'passkey';

export async function proofsOf(caller: AccountCaller): Promise<Proofs> {
  const { factors } = (await caller.call('myMfa', {})) as {
    readonly factors: readonly { readonly isEnabled: boolean }[];
  };
  return { isEnrolled: factors.some(({ isEnabled }) => isEnabled), hasPasskey: await mayHavePasskey(caller) };
}

async function mayHavePasskey(caller: AccountCaller): Promise<boolean> {
  try {
    const { items } = (await caller.call('myPasskeys', { limit: 1 })) as {
      readonly items: readonly unknown[];
    };
    return items.length > 0;
  } catch (error) {
    // A session without its second factor may not list passkeys. The device will know whether it has a passkey.
    if (error instanceof DoorwardError && error.code === 'MFA_REQUIRED') return true;
    throw error;
  }
}

/** The proof in a confirmation form, as `verifyMfa` takes it. */
export function proofIn(form: Form): { readonly proof: object; readonly kind: Refused } {
  const { passkey, code = '' } = form;
  if (passkey !== undefined) return { proof: { passkey: parsed(passkey) }, kind: 'passkey' };
  const typed = code.trim();
  return { proof: /^\d[\d ]*$/.test(typed) ? { code: typed } : { recoveryCode: typed }, kind: 'code' };
}

/** The form in which users confirm their identity (step-up), shown in place of the page that requires it. */
export function confirmationBody(
  language: Language,
  caller: AccountCaller,
  options: Proofs & { readonly section: Section; readonly refused: Refused | undefined },
): Html {
  const { confirmation: texts } = accountTexts[language];
  const { section, isEnrolled, hasPasskey, refused } = options;
  const hidden = html`${hiddenField('form_token', caller.formToken)} ${hiddenField('section', section)}`;
  const codeForm = html`<form method="post" action="/account/confirm">
    ${hidden}
    ${field({
      name: 'code',
      label: texts.code,
      problem: refused === 'code' ? texts.wrong : undefined,
      attributes: html`autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="32"`,
    })}
    <button>${texts.button}</button>
  </form>`;
  const words = passkeyTexts[language];
  const passkeyPart = html`<div id="passkey" hidden>
    ${isEnrolled && html`<p class="or">${methodTexts[language].or}</p>`}
    <form method="post" action="/account/confirm">
      ${hidden} ${hiddenField('passkey', '')}
      <button class="${isEnrolled ? 'plain' : ''}">${words.confirm}</button>
      <p role="status" data-unused="${words.unused}"></p>
    </form>
  </div>`;
  return html`<p>${texts.text}</p>
    ${refused === 'passkey' && html`<p role="alert" class="bad">${noticeTexts[language].passkeyRefused}</p>`}
    ${isEnrolled && codeForm} ${hasPasskey && passkeyPart}
    <form class="after" method="post" action="/account/sign-out">
      ${hidden}
      <p>${texts.againText}</p>
      <button class="${isEnrolled || hasPasskey ? 'plain' : ''}">${texts.again}</button>
    </form>`;
}

/** Returns the section that a form names; for any other text, the first section. */
export const sectionOf = (named: string | undefined): Section => {
  const sections = Object.keys(accountTexts.en.sections) as Section[];
  return sections.find((section) => section === named) ?? 'profile';
};

/** Returns the path of the section that a form names. */
export const namedPath = (named: string | undefined): string => pathOf(sectionOf(named));

/** The script of the page: asks the device for a passkey of the user, and sends it with the form. */
export const confirmationScript = `(() => {
  const part = document.getElementById('passkey');
  if (!part || !window.PublicKeyCredential) return;
  const form = part.querySelector('form');
  const fields = form.elements;
  const status = form.querySelector('[role=status]');
  ${passkeyUse}

  async function confirm() {
    const asking = new URLSearchParams({ form_token: fields.form_token.value, form: 'options' });
    const answer = await fetch(form.action, { method: 'POST', body: asking });
    if (!answer.ok) throw new Error('no options: ' + answer.status);
    const { challengeId, publicKey } = await answer.json();
    fields.passkey.value = JSON.stringify({ challengeId, credential: await usePasskey(publicKey) });
    form.submit();
  }

  askOnSubmit(form, status, confirm);
  part.hidden = false;
})();
`;
