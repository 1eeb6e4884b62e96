import type { Page } from 'playwright-core';
import type { PasskeyDevice } from '../../support/sign-in/passkey-device.ts';

/**
 * Gives the browser of a page an authenticator with the newest passkey of `device`. Returns what does the same for another tab.
 * The field of the address offers no passkey, because the authenticator would choose it before the button is pressed.
 */
export async function plugIn(page: Page, device: PasskeyDevice): Promise<(at: Page) => Promise<void>> {
  await page
    .context()
    .addInitScript('PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false)');
  const pages = new Set<Page>();
  const plug = async (at: Page) => {
    if (pages.has(at)) return;
    pages.add(at);
    await addAuthenticator(at, device);
  };
  await plug(page);
  return plug;
}

async function addAuthenticator(page: Page, device: PasskeyDevice): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: device.exported() });
}
