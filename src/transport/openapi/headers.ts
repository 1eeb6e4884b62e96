/** Headers of answers, each described once. */
const text = (description: string, example: string) => ({
  description,
  schema: { type: 'string', examples: [example] },
});

export const headers: Readonly<Record<string, object>> = {
  'X-Request-Id': text(
    'Names this request in logs and errors. Yours if you sent a good one.',
    '0190b6f0-0000-7000-8000-00000000000f',
  ),
  'Content-Language': text('The language of the texts in the answer.', 'en'),
  'WWW-Authenticate': text('How to authenticate (RFC 9110).', 'Bearer error="invalid_token"'),
  'Retry-After': {
    description: 'In how many seconds the same request may succeed.',
    schema: { type: 'integer', minimum: 1, examples: [30] },
  },
  RateLimit: text(
    'The limit that counted: calls left, and seconds until it starts anew.',
    '"general";r=999;t=60',
  ),
  'RateLimit-Policy': text('The same limit: its quota, and its window in seconds.', '"general";q=1000;w=60'),
  ETag: text('The version of the answer, for `If-None-Match`.', '"Zx3kQm0v1rYb"'),
  'X-Doorward-Revision': text(
    'The state after this change; send it as `minRevision` of a later check.',
    'AAAAAAAAAAAAAAAAAAAAAA',
  ),
  'Idempotency-Replayed': {
    description: 'There if this is a stored answer, in which one-time secrets are null.',
    schema: { const: 'true' },
  },
  Location: {
    description: 'Where the browser goes on.',
    schema: { type: 'string', format: 'uri', examples: ['https://app.example.com/callback'] },
  },
};
