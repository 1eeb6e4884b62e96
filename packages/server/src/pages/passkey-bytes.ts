/**
 * For the scripts that ask a device for a passkey: bytes as base64url text, and back, because not all browsers and password
 * managers convert them; and `askOnSubmit`, which asks once at a time when the form is sent. If the person declines, the page
 * shows the text that its status has for that, and does `afterwards`.
 */
export const passkeyBytes = `
const toText = (buffer) =>
  buffer && btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
function askOnSubmit(form, status, ask, afterwards = () => {}) {
  let isAsked = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (isAsked) return;
    isAsked = true;
    status.textContent = '';
    await ask().catch(() => {
      status.textContent = status.dataset.unused;
      isAsked = false;
      afterwards();
    });
  });
  return () => isAsked;
}
`;

/** For the scripts that use a passkey: asks the device, and returns its answer as JSON has it. */
export const passkeyUse = `${passkeyBytes}
async function usePasskey(publicKey, more) {
  const options = { ...publicKey, challenge: toBytes(publicKey.challenge) };
  const { id, type, response } = await navigator.credentials.get({ publicKey: options, ...more });
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const texts = { clientDataJSON, authenticatorData, signature, userHandle };
  for (const name of Object.keys(texts)) texts[name] = toText(texts[name]);
  return { id, rawId: id, type, response: texts };
}
`;
