import type { FastifyInstance } from 'fastify';
import { createHash, timingSafeEqual } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Gauge } from '../db/gauges.ts';
import { fail } from '../errors.ts';
import type { Invoke } from '../kernel/invoke.ts';
import { toDoorwardError } from './error-body.ts';
import { settle } from './settle.ts';

/**
 * `/metrics` in the text format of Prometheus: how often each operation is called, how it ends and how long it takes,
 * over both transports; requests by route; and what waits. Labels are names of operations, templates of routes and codes
 * only, which are few and known: an id in a label would tell who calls, and grow without end.
 */
export interface MetricsOptions {
  readonly enabled: boolean;
  /** Unset: whoever reaches the address may read it. */
  readonly token: string | undefined;
  readonly gauges: () => Promise<readonly Gauge[]>;
  /** Of several processes on one port any may be asked, and answers for all. */
  readonly gather?: ((own: () => Promise<string>) => () => Promise<string>) | undefined;
}

/** Upper bounds in seconds: a decision takes less than one millisecond, a password some twenty. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

/** By template of the route, method and status. */
type Requests = Map<string, Map<string, Map<number, number>>>;

interface Operation {
  readonly byCode: Map<string, number>;
  readonly buckets: number[];
  seconds: number;
  count: number;
}

/** Registers the address, counts requests, and answers the same calls, counted. Not `enabled`, it does nothing at all. */
export function registerMetrics(app: FastifyInstance, options: MetricsOptions, invoke: Invoke): Invoke {
  if (!options.enabled) return invoke;
  const operations = new Map<string, Operation>();
  const byRoute: Requests = new Map();
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  app.addHook('onClose', async () => void delay.disable());
  const count = (route: string, method: string, status: number): void => {
    let counts = byRoute.get(route);
    if (!counts) byRoute.set(route, (counts = new Map<string, Map<number, number>>()));
    let byStatus = counts.get(method);
    if (!byStatus) counts.set(method, (byStatus = new Map<number, number>()));
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  };
  app.addHook('onResponse', (request, reply, done) => {
    count(request.route?.url ?? request.routeOptions.url ?? 'none', request.method, reply.statusCode);
    done();
  });

  const own = async () => {
    const gauges = await options.gauges();
    return text(operations, byRoute, delay.percentile(99), gauges);
  };
  const all = options.gather?.(own) ?? own;
  app.get('/metrics', { config: { rate: 'exempt' } }, async (request, reply) => {
    if (!isReader(options.token, request.headers.authorization)) {
      throw fail('UNAUTHENTICATED', { headers: { 'WWW-Authenticate': 'Bearer' } });
    }
    return reply.type(TEXT).send(await all());
  });

  const note = (name: string, code: string, began: number): void => {
    const seconds = (performance.now() - began) / 1000;
    let known = operations.get(name);
    if (!known) {
      known = { byCode: new Map(), buckets: BOUNDS.map(() => 0), seconds: 0, count: 0 };
      operations.set(name, known);
    }
    known.byCode.set(code, (known.byCode.get(code) ?? 0) + 1);
    known.seconds += seconds;
    known.count += 1;
    const place = BOUNDS.findIndex((bound) => seconds <= bound);
    if (place >= 0) known.buckets[place] = (known.buckets[place] ?? 0) + 1;
  };
  return (op, raw, call, seen) => {
    const began = performance.now();
    const answered = (answer: unknown): unknown => {
      note(op.name, 'OK', began);
      return answer;
    };
    const refused = (error: unknown): never => {
      note(op.name, toDoorwardError(error).code, began);
      throw error;
    };
    return settle(() => invoke(op, raw, call, seen), answered, refused);
  };
}

/** Compared by their hashes, so that the time tells neither the token nor its length. */
function isReader(token: string | undefined, header: string | undefined): boolean {
  if (token === undefined) return true;
  const hashed = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(hashed(`Bearer ${token}`), hashed(header ?? ''));
}

const labels = (route: string, method: string, status: number): string =>
  `method="${word(method)}",route="${word(route)}",status="${status}"`;

/** A label as the format has it. */
const word = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const head = (name: string, type: string, help: string): string =>
  `# HELP doorward_${name} ${help}\n# TYPE doorward_${name} ${type}\n`;

function text(
  operations: ReadonlyMap<string, Operation>,
  byRoute: Requests,
  delay: number,
  gauges: readonly Gauge[],
): string {
  const { heapUsed, rss } = process.memoryUsage();
  const now: readonly Gauge[] = [
    {
      name: 'event_loop_delay_seconds',
      help: 'Delay of the event loop, p99 since start',
      value: delay / 1e9,
    },
    { name: 'heap_bytes', help: 'Heap in use', value: heapUsed },
    { name: 'memory_bytes', help: 'Resident memory', value: rss },
    ...gauges,
  ];
  const each = [...operations];
  const metric = 'doorward_http_requests_total';
  return [
    head('operations_total', 'counter', 'Calls by operation and how they ended: OK or the code of the error'),
    ...each.flatMap(([name, { byCode }]) =>
      [...byCode].map(([code, n]) => `doorward_operations_total{operation="${name}",code="${code}"} ${n}\n`),
    ),
    head('operation_duration_seconds', 'histogram', 'How long calls took'),
    ...each.flatMap(([name, operation]) => histogram(name, operation)),
    head('http_requests_total', 'counter', 'Requests by method, template of the route, and status'),
    ...[...byRoute].flatMap(([route, methods]) =>
      [...methods].flatMap(([method, counts]) =>
        [...counts].map(([status, n]) => `${metric}{${labels(route, method, status)}} ${n}\n`),
      ),
    ),
    ...now.map(
      ({ name, help, value }) =>
        `${head(name, 'gauge', help)}doorward_${name} ${Number.isFinite(value) ? value : 0}\n`,
    ),
  ].join('');
}

function histogram(name: string, { buckets, seconds, count }: Operation): string[] {
  const metric = 'doorward_operation_duration_seconds';
  let below = 0;
  const upTo = BOUNDS.map((bound, place) => {
    below += buckets[place] ?? 0;
    return `${metric}_bucket{operation="${name}",le="${bound}"} ${below}\n`;
  });
  return [
    ...upTo,
    `${metric}_bucket{operation="${name}",le="+Inf"} ${count}\n`,
    `${metric}_sum{operation="${name}"} ${seconds}\n`,
    `${metric}_count{operation="${name}"} ${count}\n`,
  ];
}
