import {
  context,
  propagation,
  trace,
  type Attributes,
  type Meter,
  type Span,
  type TextMapPropagator,
  type Tracer,
} from '@opentelemetry/api';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { instrument } from '../../src/otel.ts';
import { createDoorward } from '../../src/node.ts';
import type { Doorward } from '../../src/client/doorward.ts';

/** Recorders in place of an SDK: what a tracer and a meter are given, and what reaches the service. */

interface RecordedSpan {
  readonly name: string;
  readonly attributes: Attributes;
  readonly status: number | null;
  readonly ended: boolean;
}
const spans: { -readonly [K in keyof RecordedSpan]: RecordedSpan[K] }[] = [];
const tracer = {
  startSpan(name: string, { attributes = {} }: { attributes?: Attributes } = {}) {
    const record: (typeof spans)[number] = {
      name,
      attributes: { ...attributes },
      status: null,
      ended: false,
    };
    const id = String(spans.push(record)).padStart(16, '0');
    const span = {
      spanContext: () => ({ traceId: '1'.repeat(32), spanId: id, traceFlags: 1 }),
      setAttribute: (key: string, value: string | number) => ((record.attributes[key] = value), span),
      setStatus: ({ code }: { code: number }) => ((record.status = code), span),
      end: () => void (record.ended = true),
    };
    return span as unknown as Span;
  },
} as unknown as Tracer;

const counted: unknown[] = [];
const observers = new Set<unknown>();
const instrumentOf = (name: string) => ({
  add: (value: number, attributes: Attributes) => void counted.push([name, value, attributes]),
});
const meter = {
  createCounter: instrumentOf,
  createObservableGauge: instrumentOf,
  addBatchObservableCallback: (observe: unknown) => observers.add(observe),
  removeBatchObservableCallback: (observe: unknown) => observers.delete(observe),
} as unknown as Meter;

const traceparent: TextMapPropagator = {
  inject(active, headers) {
    const { traceId = '', spanId = '' } = trace.getSpanContext(active) ?? {};
    (headers as Record<string, string>)['traceparent'] = `00-${traceId}-${spanId}-01`;
  },
  extract: (active) => active,
  fields: () => ['traceparent'],
};

const received: (string | undefined)[] = [];
const answers: { readonly status: number; readonly body: unknown }[] = [];
const server = createServer((request, response) => {
  received.push(request.headers['traceparent'] as string | undefined);
  const { status, body } = answers.shift() ?? { status: 500, body: {} };
  request.resume();
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

let doorward: Doorward;
let end: () => void;
const secret = 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJhLXRva2VuIn0.signature';

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  propagation.setGlobalPropagator(traceparent);
  const { port } = server.address() as AddressInfo;
  doorward = createDoorward({ url: `http://127.0.0.1:${port}`, token: secret });
  end = instrument(doorward, { tracer, meter });
});
afterAll(() => {
  propagation.disable();
  context.disable();
  server.close();
});

const ask = () => doorward.can(undefined, 'order:read', { resource: { id: 'order of the caller' } });

it('makes a span for each attempt, which continues in the service, and counts the decision', async () => {
  answers.push(
    { status: 503, body: { error: 'Later.', code: 'UNAVAILABLE', requestId: 'r' } },
    { status: 200, body: { success: true, data: { authorized: true, reason: 'ALLOWED' } } },
  );
  expect(await ask()).toBe(true);
  expect(spans).toEqual([
    {
      name: 'doorward.isAuthorized',
      attributes: {
        'doorward.operation': 'isAuthorized',
        'http.response.status_code': 503,
        'error.type': 'UNAVAILABLE',
      },
      status: 2,
      ended: true,
    },
    {
      name: 'doorward.isAuthorized',
      attributes: {
        'doorward.operation': 'isAuthorized',
        'http.request.resend_count': 1,
        'http.response.status_code': 200,
      },
      status: null,
      ended: true,
    },
  ]);
  expect(received).toEqual([1, 2].map((id) => `00-${'1'.repeat(32)}-${String(id).padStart(16, '0')}-01`));
  expect(counted).toEqual([['doorward_decisions', 1, { place: 'remote', reason: 'ALLOWED' }]]);
});

it('counts a question without an answer by the code of its failure', async () => {
  answers.push({ status: 403, body: { error: 'No.', code: 'FORBIDDEN', requestId: 'r' } });
  await expect(ask()).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(counted.at(-1)).toEqual(['doorward_decisions', 1, { place: 'remote', reason: 'FORBIDDEN' }]);
});

it('records no token and no context, and ends with its function', async () => {
  expect(JSON.stringify([spans, counted])).not.toMatch(/eyJ|of the caller/);
  expect(observers.size).toBe(1);
  end();
  expect(observers.size).toBe(0);
  const before = spans.length;
  answers.push({ status: 200, body: { success: true, data: { authorized: true, reason: 'ALLOWED' } } });
  await ask();
  expect(spans.length).toBe(before);
  expect(received.at(-1)).toBeUndefined();
});
