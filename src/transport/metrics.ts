import type { FastifyInstance } from 'fastify';
import { createHash, timingSafeEqual } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Gauge as Figure } from '../db/gauges.ts';
import { fail } from '../errors.ts';
import type { QueueState } from '../kernel/context.ts';
import type { Invoke } from '../kernel/invoke.ts';
import { toDoorwardError } from './error-body.ts';
import { settle } from './settle.ts';

/**
 * `/metrics` in the text format of Prometheus: how often each operation is called, how it ends and how long it takes,
 * over both transports; requests by route; and what waits. Labels are names of operations, templates of routes, codes
 * and queues only, which are few and known: an id in a label would tell who calls, and grow without end.
 */
export interface MetricsOptions {
  readonly enabled: boolean;
  /** Unset: whoever reaches the address may read it. */
  readonly token: string | undefined;
  readonly gauges: () => Promise<readonly Figure[]>;
  readonly queues: () => readonly QueueState[];
  readonly worker?: Worker | undefined;
}

/** One of several processes on one port: whichever is asked answers for all. */
interface Worker {
  readonly place: number;
  readonly gather: <T>(own: () => Promise<T>) => () => Promise<readonly T[]>;
}

/** Upper bounds in seconds: a decision takes less than one millisecond, a password some twenty. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the address, counts requests, and answers the same calls, counted. Not `enabled`, it does nothing at all. */
export function registerMetrics(app: FastifyInstance, options: MetricsOptions, invoke: Invoke): Invoke {
  if (!options.enabled) return invoke;
  const { worker } = options;
  // Not the registry of the library: there may be several apps in a process.
  const registry = new Registry();
  if (worker) registry.setDefaultLabels({ worker: String(worker.place) });
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

  const refresh = figuresOf(registry, options.gauges);
  const own = () => refresh().then(() => registry.getMetricsAsJSON());
  const gathered = worker?.gather(own);
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
  return counted(registry, invoke);
}

/** The same calls, each counted with how it ended and how long it took. */
function counted(registry: Registry, invoke: Invoke): Invoke {
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
  const note = (operation: string, code: string, began: number): void => {
    calls.inc({ operation, code });
    durations.observe({ operation }, (performance.now() - began) / 1000);
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

/** Not the library's own figures of the process: they watch the event loop and the collector until it ends. */
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
  const of = (name: string, help: string) => ({
    name: `doorward_queue_${name}`,
    help,
    labelNames: ['queue'],
    registers: [registry],
  });
  const waiting = new Gauge({
    ...of('waiting', 'Requests that wait, by queue'),
    collect: () => queues().forEach(({ name, waiting: value }) => waiting.set({ queue: name }, value)),
  });
  const running = new Gauge({
    ...of('running', 'Requests that are worked on, by queue'),
    collect: () => queues().forEach(({ name, running: value }) => running.set({ queue: name }, value)),
  });
  const refused = new Counter({
    ...of('refused_total', 'Requests refused because too many waited or for too long, by queue'),
    collect() {
      refused.reset();
      queues().forEach(({ name, refused: value }) => refused.inc({ queue: name }, value));
    },
  });
}

/** What sets the figures of the database to what they are now. */
function figuresOf(registry: Registry, gauges: MetricsOptions['gauges']): () => Promise<void> {
  const known = new Map<string, Gauge>();
  return async () => {
    for (const { name, help, value } of await gauges()) {
      const gauge = known.get(name) ?? new Gauge({ name: `doorward_${name}`, help, registers: [registry] });
      known.set(name, gauge);
      gauge.set(value);
    }
  };
}

/** Compared by their hashes, so that the time tells neither the token nor its length. */
function isReader(token: string | undefined, header: string | undefined): boolean {
  if (token === undefined) return true;
  const hashed = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(hashed(`Bearer ${token}`), hashed(header ?? ''));
}
