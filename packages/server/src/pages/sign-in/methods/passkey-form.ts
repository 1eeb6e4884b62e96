import { html, type Html } from '../../../html/html.ts';
import type { Language } from '../../../languages.ts';
import { hiddenField } from '../app-page.ts';
import { passkeyUse } from '../../passkey-bytes.ts';
import type { PageState } from '../../../sign-in/page-state/page-state.ts';

interface Texts {
  readonly signIn: string;
  readonly confirm: string;
  readonly unused: string;
  readonly unavailable: string;
}

export const passkeyTexts: Record<Language, Texts> = {
  en: {
    signIn: 'Sign in with a passkey',
    confirm: 'Confirm with a passkey',
    unused: 'No passkey was used. Try again, or choose another way.',
    unavailable:
      'This sign-in uses a passkey, but your browser does not support passkeys here, or runs no scripts.',
  },
  de: {
    signIn: 'Mit einem Passkey anmelden',
    confirm: 'Mit einem Passkey bestätigen',
    unused:
      'Es wurde kein Passkey verwendet. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.',
    unavailable:
      'Für diese Anmeldung brauchen Sie einen Passkey, aber Ihr Browser unterstützt hier keine Passkeys oder führt keine Skripte aus.',
  },
  es: {
    signIn: 'Iniciar sesión con una llave de acceso',
    confirm: 'Confirmar con una llave de acceso',
    unused: 'No se ha usado ninguna llave de acceso. Inténtelo de nuevo o elija otra forma.',
    unavailable:
      'Para iniciar sesión necesita una llave de acceso, pero su navegador no admite aquí llaves de acceso o no ejecuta scripts.',
  },
  fr: {
    signIn: 'Se connecter avec une clé d’accès',
    confirm: 'Confirmer avec une clé d’accès',
    unused: 'Aucune clé d’accès n’a été utilisée. Réessayez ou choisissez une autre méthode.',
    unavailable:
      'La connexion se fait avec une clé d’accès, mais votre navigateur ne prend pas en charge les clés d’accès ici, ou n’exécute pas de scripts.',
  },
};

/**
 * Makes the form to use a passkey. It needs `passkeyScript`, which shows it if the browser supports passkeys. `or`
 * separates it from the other methods of the page. If it is the only method, the page says if it does not work.
 */
export function passkeyForm(
  language: Language,
  { formToken }: PageState,
  { isSecond = false, or }: { readonly isSecond?: boolean; readonly or?: string | undefined } = {},
): Html {
  const texts = passkeyTexts[language];
  const fields = isSecond ? ['passkey'] : ['challengeId', 'credential'];
  const action = isSecond ? '/api/auth/flow/second-factor' : '/api/auth/flow/passkey';
  const isOnly = !isSecond && or === undefined;
  return html`${isOnly && html`<p id="no-passkey">${texts.unavailable}</p>`}
    <div id="passkey" hidden>
      ${or !== undefined && html`<p class="or">${or}</p>`}
      <form method="post" action="${action}">
        ${hiddenField('form_token', formToken)} ${fields.map((name) => hiddenField(name, ''))}
        <button class="${isOnly ? '' : 'plain'}">${isSecond ? texts.confirm : texts.signIn}</button>
        <p role="status" data-unused="${texts.unused}"></p>
      </form>
    </div>`;
}

/**
 * Asks the browser for a passkey when the button is pressed. Where the browser supports it, passkeys are also offered
 * while the address field is filled in.
 */
export const passkeyScript = `(() => {
  const part = document.getElementById('passkey');
  if (!part || !window.PublicKeyCredential) return;
  const form = part.querySelector('form');
  const fields = form.elements;
  const status = form.querySelector('[role=status]');
  ${passkeyUse}
  let waiting = new AbortController();

  async function use(mediation) {
    waiting.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    const answer = await fetch('/api/auth/flow/passkey/options', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ form_token: fields.form_token.value }),
      signal,
    });
    // If the sign-in has ended, or went on in another tab, the reloaded page leads to where it continues.
    if (answer.status === 400 && mediation === 'optional') location.reload();
    if (!answer.ok) throw new Error('no options: ' + answer.status);
    const { challengeId, publicKey } = (await answer.json()).data;
    const credential = await usePasskey(publicKey, { signal, mediation });
    if (fields.passkey) fields.passkey.value = JSON.stringify({ challengeId, credential });
    else {
      fields.challengeId.value = challengeId;
      fields.credential.value = JSON.stringify(credential);
    }
    form.submit();
  }

  const isAsked = askOnSubmit(form, status, () => use('optional'), () => void offer());

  async function offer() {
    const { isConditionalMediationAvailable: isAvailable } = PublicKeyCredential;
    if (!document.querySelector('[autocomplete~=webauthn]')) return;
    if (!isAvailable || !(await isAvailable.call(PublicKeyCredential)) || isAsked()) return;
    // If no passkey is chosen, the page works as before.
    await use('conditional').catch(() => undefined);
  }

  part.hidden = false;
  document.getElementById('no-passkey')?.remove();
  void offer();
  // A challenge is valid for 5 minutes.
  setInterval(offer, 4 * 60_000);
})();
`;
