/**
 * Functions for scripts that ask a device for a passkey. `toText` and `toBytes` convert between bytes and base64url,
 * because not all browsers and password managers do. `askOnSubmit` calls `ask` when the form is sent, and again only if
 * `ask` failed. After a failure, for example if the person declines, it shows the text in the data of `status`, and
 * calls `afterwards`.
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

/** A function for scripts that use a passkey: it asks the device and returns an object that can be sent as JSON. */
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
