/** Whether a text can be a JWT. Only such texts are sent, so that a token cannot inject another header. */
export const isTokenText = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= 8192 && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
