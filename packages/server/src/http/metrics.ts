import type { FastifyInstance } from 'fastify';
import { createHash, timingSafeEqual } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Gauge as Figure } from '../db/connection/gauges.ts';
import { fail } from '../errors.ts';
import type { QueueState } from '../kernel/context.ts';
import type { Invoke } from '../kernel/invoke.ts';
import { toDoorwardError } from './error-body.ts';
import { syncOrAsync } from './sync-or-async.ts';

/**
 * Serves `/metrics` in the Prometheus text format: calls by operation, with result and duration, over both transports;
 * requests by route; and queues. Labels contain only names of operations, route templates, codes and queues: an id in a
 * label would reveal callers and make the number of series unbounded.
 */
export interface MetricsOptions {
  readonly enabled: boolean;
  /** The bearer token that a scraper must send. If unset, no token is required. */
  readonly token: string | undefined;
  readonly gauges: () => Promise<readonly Figure[]>;
  readonly queues: () => readonly QueueState[];
  readonly worker?: Worker | undefined;
}

/** One of several processes on one port. The process that gets the request responds for all of them. */
interface Worker {
  readonly number: number;
  readonly gather: <T>(own: () => Promise<T>) => () => Promise<readonly T[]>;
}

/** Histogram buckets in seconds. A decision takes less than one millisecond, hashing a password about twenty. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Registers `/metrics`, and returns an `invoke` that measures its calls. If metrics are disabled, returns `invoke`
 * unchanged.
 */
export function registerMetrics(app: FastifyInstance, options: MetricsOptions, invoke: Invoke): Invoke {
  if (!options.enabled) return invoke;
  const { worker } = options;
  // The library's default registry is global, and tests run several apps in one process.
  const registry = new Registry();
  if (worker) registry.setDefaultLabels({ worker: String(worker.number) });
  registerProcess(app, registry);
  registerQueues(registry, options.queues);

  const requests = new Counter({
    name: 'doorward_http_requests_total',
    help: 'Requests by method, template of the route, and status',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    requests.inc({ method: request.method, route, status: reply.statusCode });
    done();
  });

  const refresh = databaseGauges(registry, options.gauges);
  const ownMetrics = () => refresh().then(() => registry.getMetricsAsJSON());
  const gathered = worker?.gather(ownMetrics);
  const text = async (): Promise<string> => {
    if (gathered) return AggregatorRegistry.aggregate([...(await gathered())]).metrics();
    await refresh();
    return registry.metrics();
  };
  app.get('/metrics', { config: { rate: 'exempt' } }, async (request, reply) => {
    if (!isReader(options.token, request.headers.authorization)) {
      throw fail('UNAUTHENTICATED', { headers: { 'WWW-Authenticate': 'Bearer' } });
    }
    return reply.type(registry.contentType).send(await text());
  });
  return countCalls(registry, invoke);
}

/** Wraps `invoke` to measure the result and duration of each call. */
function countCalls(registry: Registry, invoke: Invoke): Invoke {
  const calls = new Counter({
    name: 'doorward_operations_total',
    help: 'Calls by operation and how they ended: OK or the code of the error',
    labelNames: ['operation', 'code'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'doorward_operation_duration_seconds',
    help: 'How long calls took',
    labelNames: ['operation'],
    buckets: BOUNDS,
    registers: [registry],
  });
  const observe = (operation: string, code: string, began: number): void => {
    calls.inc({ operation, code });
    durations.observe({ operation }, (performance.now() - began) / 1000);
  };
  return (op, raw, call, seen) => {
    const began = performance.now();
    const answered = (answer: unknown): unknown => {
      observe(op.name, 'OK', began);
      return answer;
    };
    const refused = (error: unknown): never => {
      observe(op.name, toDoorwardError(error).code, began);
      throw error;
    };
    return syncOrAsync(() => invoke(op, raw, call, seen), answered, refused);
  };
}

/**
 * Registers metrics of the process. The library's default metrics are not used, because their observers cannot be
 * stopped when an app closes.
 */
function registerProcess(app: FastifyInstance, registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  app.addHook('onClose', async () => void delay.disable());
  const gauge = (name: string, help: string, value: () => number): void => {
    const made: Gauge = new Gauge({
      name: `doorward_${name}`,
      help,
      registers: [registry],
      collect: () => made.set(value()),
    });
  };
  gauge('event_loop_delay_seconds', 'Delay of the event loop, p99 since start', () => {
    const p99 = delay.percentile(99) / 1e9;
    return Number.isFinite(p99) ? p99 : 0;
  });
  gauge('heap_bytes', 'Heap in use', () => process.memoryUsage().heapUsed);
  gauge('memory_bytes', 'Resident memory', () => process.memoryUsage.rss());
}

function registerQueues(registry: Registry, queues: MetricsOptions['queues']): void {
  const metric = (name: string, help: string) => ({
    name: `doorward_queue_${name}`,
    help,
    labelNames: ['queue'],
    registers: [registry],
  });
  const waiting = new Gauge({
    ...metric('waiting', 'Requests that wait, by queue'),
    collect: () => queues().forEach(({ name, waiting: value }) => waiting.set({ queue: name }, value)),
  });
  const running = new Gauge({
    ...metric('running', 'Requests that are worked on, by queue'),
    collect: () => queues().forEach(({ name, running: value }) => running.set({ queue: name }, value)),
  });
  const refused = new Counter({
    ...metric('refused_total', 'Requests refused because too many waited or for too long, by queue'),
    collect() {
      refused.reset();
      queues().forEach(({ name, refused: value }) => refused.inc({ queue: name }, value));
    },
  });
}

/** Returns a function that updates the gauges of the database. */
function databaseGauges(registry: Registry, gauges: MetricsOptions['gauges']): () => Promise<void> {
  const gaugesByName = new Map<string, Gauge>();
  return async () => {
    for (const { name, help, value } of await gauges()) {
      const gauge =
        gaugesByName.get(name) ?? new Gauge({ name: `doorward_${name}`, help, registers: [registry] });
      gaugesByName.set(name, gauge);
      gauge.set(value);
    }
  };
}

/**
 * Whether the request has the scraper's token. Compares hashes, so that timing reveals neither the token nor its
 * length.
 */
function isReader(token: string | undefined, header: string | undefined): boolean {
  if (token === undefined) return true;
  const sha256 = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(sha256(`Bearer ${token}`), sha256(header ?? ''));
}
