import express from 'express';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyWebhook, webhookHandler, type EventOf } from '../src/node.ts';

/** Packages §6: what is believed, and what is answered, so that an event is processed and comes again if it must. */

const secretOf = (letter: string): string => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;
const [secret, newer] = [secretOf('a'), secretOf('b')];
const event = { id: 'evt_1', type: 'api_key.revoked', version: 1, data: { id: 'key-1' } };
const body = JSON.stringify(event);

function headersOf(
  text: string,
  { key = secret, at = new Date(), id = 'evt_1' } = {},
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(key).sign(id, at, text),
  };
}
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return 'accepted';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('verifyWebhook', () => {
  it('accepts text and bytes, and headers in any form', () => {
    const headers = headersOf(body);
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    for (const form of [headers, upper, new Headers(headers)]) {
      for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body)])
        expect(verifyWebhook(raw, form, secret)).toEqual(event);
    }
    expect(verifyWebhook(body, headersOf(body, { key: newer }), [secret, newer])).toEqual(event);
  });

  it('refuses what the service did not sign, or long ago', () => {
    const headers = headersOf(body);
    const minutes = (n: number) => new Date(Date.now() + n * 60_000);
    expect(codeOf(() => verifyWebhook(`${body} `, headers, secret))).toBe('SIGNATURE');
    expect(codeOf(() => verifyWebhook(body, headers, newer))).toBe('SIGNATURE');
    expect(codeOf(() => verifyWebhook(body, { ...headers, 'webhook-id': 'evt_2' }, secret))).toBe(
      'SIGNATURE',
    );
    expect(codeOf(() => verifyWebhook(body, { ...headers, 'webhook-signature': 'v1,' }, secret))).toBe(
      'SIGNATURE',
    );
    expect(codeOf(() => verifyWebhook(body, headersOf(body, { at: minutes(-6) }), secret))).toBe('TIMESTAMP');
    expect(codeOf(() => verifyWebhook(body, headersOf(body, { at: minutes(6) }), secret))).toBe('TIMESTAMP');
    expect(codeOf(() => verifyWebhook(body, { ...headers, 'webhook-timestamp': '1e99' }, secret))).toBe(
      'TIMESTAMP',
    );
    expect(codeOf(() => verifyWebhook(body, {}, secret))).toBe('TIMESTAMP');
    expect(
      codeOf(() => verifyWebhook(body, { 'webhook-timestamp': headers['webhook-timestamp'] }, secret)),
    ).toBe('SIGNATURE');
  });

  it('refuses a body that was parsed before, one that is no event, and a secret that is none', () => {
    expect(codeOf(() => verifyWebhook(event as never, headersOf(body), secret))).toBe('BODY');
    expect(codeOf(() => verifyWebhook('[]', headersOf('[]'), secret))).toBe('BODY');
    for (const wrong of ['', 'x', 'whsec_', [], [''], undefined])
      expect(codeOf(() => verifyWebhook(body, headersOf(body), wrong as string))).toBe('CONFIG');
  });
});

describe('webhookHandler', () => {
  const processed: EventOf<'api_key.revoked'>[] = [];
  const others: string[] = [];
  const errors: unknown[] = [];
  const ids = new Set<string>();
  let mustFail = false;
  const handler = webhookHandler({
    secret: [secret, newer],
    on: {
      'api_key.revoked': async (received) => {
        if (mustFail) throw new Error('down');
        processed.push(received);
        ids.add(received.id);
      },
      '*': ({ type }) => others.push(type),
    },
    seen: (id) => ids.has(id),
    onError: (error) => errors.push(error),
  });
  let url = '';
  const app = express();
  app.post('/stream', handler);
  app.post('/raw', express.raw({ type: 'application/json' }), handler);
  app.post('/parsed', express.json(), handler);
  const server = app.listen(0, '127.0.0.1');
  beforeAll(async () => {
    if (!server.listening) await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((closed) => server.close(closed)));

  const post = async (path: string, text: string, headers = headersOf(text)): Promise<number> => {
    const init = { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } };
    return path === 'fetch'
      ? (await handler(new Request('http://localhost/hook', init))).status
      : (await fetch(`${url}${path}`, init)).status;
  };

  it.each(['/stream', '/raw', 'fetch'])('takes requests: %s', async (path) => {
    const text = JSON.stringify({ ...event, id: `evt_${path}` });
    const id = `evt_${path}`;
    const headers = headersOf(text, { id });
    mustFail = true;
    expect(await post(path, text, headers)).toBe(500);
    mustFail = false;
    expect(await post(path, text, headers)).toBe(200);
    expect(await post(path, text, headers)).toBe(200);
    expect(processed.filter((item) => item.id === id).length).toBe(1);
    expect(await post(path, text, headersOf(`${text} `))).toBe(400);
    const other = JSON.stringify({ ...event, type: 'role.created' });
    expect(await post(path, other)).toBe(200);
    expect(others.at(-1)).toBe('role.created');
    expect(await post(path, JSON.stringify({ ...event, type: 'constructor' }))).toBe(200);
    expect((errors[0] as Error).message).toBe('down');
  });

  it('bounds the body, and answers 500 for one that was parsed before', async () => {
    expect(await post('/stream', 'x'.repeat(100_000))).toBe(413);
    expect(await post('fetch', 'x'.repeat(100_000))).toBe(413);
    expect(await post('/parsed', body)).toBe(500);
    expect((errors.at(-1) as { code: string; fix: string }).fix).toContain('express.raw');
  });
});
