import type { components } from '@doorward/node/client';
import { language, type Texts } from '../../i18n/language.ts';

/*
 * The browser's dialogs for passkeys (WebAuthn). Bytes are converted here, because not all browsers and password
 * managers support the built-in conversion.
 */

type Creation = components['schemas']['PasskeyCreation']['publicKey'];
type Request = components['schemas']['PasskeyRequest']['publicKey'];

const failures: Texts<{ readonly unused: string; readonly kept: string }> = {
  en: {
    unused: 'No passkey was used. Try again, or choose another way.',
    kept: 'This device or password manager already has a passkey of yours.',
  },
  de: {
    unused:
      'Es wurde kein Passkey verwendet. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.',
    kept: 'Dieses Gerät oder dieser Passwortmanager hat schon einen Passkey von Ihnen.',
  },
  es: {
    unused: 'No se ha usado ninguna llave de acceso. Inténtelo de nuevo o elija otra forma.',
    kept: 'Este dispositivo o gestor de contraseñas ya tiene una llave de acceso suya.',
  },
  fr: {
    unused: 'Aucune clé d’accès n’a été utilisée. Réessayez ou choisissez une autre méthode.',
    kept: 'Cet appareil ou ce gestionnaire de mots de passe a déjà une de vos clés d’accès.',
  },
};

/** Whether the browser supports passkeys on this page, which requires https or localhost. */
export const hasPasskeys = (): boolean => 'PublicKeyCredential' in window;

/** Asks the browser to create a passkey. @throws an error with a text for the user */
export async function makePasskey({ challenge, user, excludeCredentials, ...rest }: Creation) {
  const publicKey = {
    ...rest,
    challenge: toBytes(challenge),
    user: { ...user, id: toBytes(user.id) },
    excludeCredentials: excludeCredentials.map((passkey) => ({ ...passkey, id: toBytes(passkey.id) })),
  } as PublicKeyCredentialCreationOptions;
  const { id, response } = await chosen(navigator.credentials.create({ publicKey }));
  const { clientDataJSON, attestationObject } = response as AuthenticatorAttestationResponse;
  // Some browsers don't implement `getTransports`.
  const transports = (response as Partial<AuthenticatorAttestationResponse>).getTransports?.() ?? [];
  const sent = {
    clientDataJSON: toText(clientDataJSON),
    attestationObject: toText(attestationObject),
    transports,
  };
  return { id, rawId: id, type: 'public-key' as const, response: sent };
}

/** Asks the user to choose a passkey, and signs the challenge with it. @throws an error with a text for the user */
export async function askForPasskey({ challenge, rpId, timeout }: Request) {
  const publicKey = { challenge: toBytes(challenge), rpId, timeout, userVerification: 'preferred' as const };
  const { id, response } = await chosen(navigator.credentials.get({ publicKey }));
  const { clientDataJSON, authenticatorData, signature, userHandle } =
    response as AuthenticatorAssertionResponse;
  const sent = {
    clientDataJSON: toText(clientDataJSON),
    authenticatorData: toText(authenticatorData),
    signature: toText(signature),
    userHandle: userHandle && toText(userHandle),
  };
  return { id, rawId: id, type: 'public-key' as const, response: sent };
}

async function chosen(answer: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const texts = failures[language()];
  try {
    return (await answer) as PublicKeyCredential;
  } catch (error) {
    const isKnown = error instanceof DOMException && error.name === 'InvalidStateError';
    throw new Error(isKnown ? texts.kept : texts.unused, { cause: error });
  }
}

const toText = (buffer: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const toBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );
