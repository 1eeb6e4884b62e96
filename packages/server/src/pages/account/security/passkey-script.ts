import { passkeyBytes } from '../../passkey-bytes.ts';

/**
 * Asks the device for a new passkey, and sends it with the form. If the service first requires a confirmation of the
 * user's identity, the form is submitted without a passkey, so that the browser shows the confirmation page.
 */
export const addPasskeyScript = `(() => {
  const part = document.getElementById('new-passkey');
  if (!part || !window.PublicKeyCredential) return;
  const form = part.querySelector('form');
  const fields = form.elements;
  const status = part.querySelector('[role=status]');
  ${passkeyBytes}

  async function add() {
    const asking = new URLSearchParams({ form_token: fields.form_token.value, form: 'options' });
    const answer = await fetch(form.action, { method: 'POST', body: asking });
    if (!answer.ok) {
      fields.form.value = 'options';
      return form.submit();
    }
    const { challengeId, publicKey } = await answer.json();
    const credential = await navigator.credentials.create({
      publicKey: {
        ...publicKey,
        challenge: toBytes(publicKey.challenge),
        user: { ...publicKey.user, id: toBytes(publicKey.user.id) },
        excludeCredentials: publicKey.excludeCredentials.map((item) => ({ ...item, id: toBytes(item.id) })),
      },
    });
    const { id, type, response } = credential;
    fields.challengeId.value = challengeId;
    fields.credential.value = JSON.stringify({
      id,
      rawId: id,
      type,
      response: {
        clientDataJSON: toText(response.clientDataJSON),
        attestationObject: toText(response.attestationObject),
        transports: response.getTransports ? response.getTransports() : [],
      },
    });
    form.submit();
  }

  askOnSubmit(form, status, add);
  part.hidden = false;
  document.getElementById('no-passkey').remove();
})();
`;
