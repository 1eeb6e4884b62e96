import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from './webhook-signature.ts';

/** Compares with the reference verifier of Standard Webhooks, which receivers use. */
const secret = () => randomBytes(32);
const verifier = (of: Buffer) => new Webhook(`whsec_${of.toString('base64')}`);
const body = JSON.stringify({ id: 'evt_1', data: { name: 'Zoë 🦊 \u2028 "quoted"' } });

test('a signature verifies with its secret, over exactly these bytes, for five minutes', () => {
  const [mine, other] = [secret(), secret()];
  const headers = signedHeaders({ id: 'evt_1', body }, [mine], new Date());
  expect(verifier(mine).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => verifier(other).verify(body, headers)).toThrow('No matching signature');
  expect(() => verifier(mine).verify(body.replace('1', '2'), headers)).toThrow('No matching signature');
  expect(() => verifier(mine).verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow('No matching');
  const later = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) };
  expect(() => verifier(mine).verify(body, later)).toThrow('No matching signature');
  const old = signedHeaders({ id: 'evt_1', body }, [mine], new Date(Date.now() - 301_000));
  expect(() => verifier(mine).verify(body, old)).toThrow('too old');
});

test('while a secret is rotated both verify, the newest first', () => {
  const [newest, former] = [secret(), secret()];
  const at = new Date();
  const headers = signedHeaders({ id: 'evt_1', body }, [newest, former], at);
  for (const nonSharedBuffer of [newest, former])
    expect(verifier(nonSharedBuffer).verify(body, headers)).toEqual(JSON.parse(body));
  const alone = (item: Buffer) => signedHeaders({ id: 'evt_1', body }, [item], at)['webhook-signature'];
  expect(headers['webhook-signature']).toBe(`${alone(newest)} ${alone(former)}`);
  expect(headers['webhook-timestamp']).toBe(String(Math.floor(at.getTime() / 1000)));
});
