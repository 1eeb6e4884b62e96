const text = (description: string, example: string) => ({
  description,
  schema: { type: 'string', examples: [example] },
});

/** Response headers, as components of the OpenAPI document. */
export const headers: Readonly<Record<string, object>> = {
  'X-Request-Id': text(
    'Identifies this request in logs and errors. It is the id that you sent, if that is valid.',
    '0190b6f0-0000-7000-8000-00000000000f',
  ),
  'Content-Language': text('The language of the texts in the answer.', 'en'),
  'WWW-Authenticate': text('How to authenticate (RFC 9110).', 'Bearer error="invalid_token"'),
  'Retry-After': {
    description: 'Seconds after which the same request may succeed.',
    schema: { type: 'integer', minimum: 1, examples: [30] },
  },
  RateLimit: text(
    'The limit that was applied: remaining calls, and seconds until its window ends.',
    '"general";r=999;t=60',
  ),
  'RateLimit-Policy': text('The quota of that limit, and its window in seconds.', '"general";q=1000;w=60'),
  ETag: text('The version of the answer, for `If-None-Match`.', '"Zx3kQm0v1rYb"'),
  'X-Doorward-Revision': text(
    'The revision after this change. Send it as `minRevision` of a later check.',
    'AAAAAAAAAAAAAAAAAAAAAA',
  ),
  'Idempotency-Replayed': {
    description: 'Present if this is a stored answer. One-time secrets in it are null.',
    schema: { const: 'true' },
  },
  Location: {
    description: 'The URL to which the browser is redirected.',
    schema: { type: 'string', format: 'uri', examples: ['https://app.example.com/callback'] },
  },
};
