/** Whether a text can be a JWT in a header: only such texts are sent, so that no text can add another header. */
export const isTokenText = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= 8192 && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
