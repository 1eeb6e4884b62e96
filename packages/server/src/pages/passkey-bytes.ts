/**
 * For the scripts that ask a device for a passkey: bytes as base64url text, and back. They are converted here, because not
 * all browsers and password managers do it.
 */
export const passkeyBytes = `
const toText = (buffer) =>
  buffer && btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
`;
