import {
  context,
  metrics,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Meter,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type { DecisionEvent, RequestEvent, ResponseEvent, SnapshotEvent } from './contracts/hooks.ts';
import type { Doorward } from './client/doorward.ts';

export interface InstrumentOptions {
  /** Default: the tracer `@doorward/node` of the global provider. */
  readonly tracer?: Tracer;
  /** Default: the meter `@doorward/node` of the global provider. */
  readonly meter?: Meter;
}

const NAME = '@doorward/node';

/**
 * Reports a client's work to OpenTelemetry: a span `doorward.<operation>` for each attempt, whose context is sent in
 * headers such as `traceparent`, and metrics of decisions and of the local policy. Spans and metrics never contain a
 * token, a context or the id of a user. Call the returned function to stop.
 *
 * @example
 * const doorward = createDoorward();
 * instrument(doorward);
 */
export function instrument(doorward: Doorward, options: InstrumentOptions = {}): () => void {
  const spans = spansOf(options.tracer ?? trace.getTracer(NAME));
  const { end, ...meters } = metersOf(options.meter ?? metrics.getMeter(NAME), doorward);
  const stop = doorward.observe({ ...spans, ...meters });
  return () => {
    stop();
    end();
  };
}

function spansOf(tracer: Tracer) {
  /** Open spans of requests, by call and attempt. */
  const open = new Map<string, Span>();
  const keyOf = ({ id, attempt }: RequestEvent): string => `${id}:${attempt}`;

  return {
    onRequest(event: RequestEvent): Record<string, string> {
      const { operation, attempt } = event;
      const attributes = {
        'doorward.operation': operation,
        ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
      };
      const span = tracer.startSpan(`doorward.${operation}`, { kind: SpanKind.CLIENT, attributes });
      open.set(keyOf(event), span);
      const headers: Record<string, string> = {};
      propagation.inject(trace.setSpan(context.active(), span), headers);
      return headers;
    },
    onResponse(event: ResponseEvent): void {
      const span = open.get(keyOf(event));
      if (!span) return;
      open.delete(keyOf(event));
      const { status, code } = event;
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      if (code !== undefined) span.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function metersOf(meter: Meter, doorward: Doorward) {
  const decisions = meter.createCounter('doorward_decisions', {
    description: 'Decisions, by place and reason.',
  });
  const fallbacks = meter.createCounter('doorward_fallbacks', {
    description: 'Questions that went to the service although the client decides locally, by cause.',
  });
  const refused = meter.createCounter('doorward_snapshot_refused', {
    description: 'Documents of the local policy that were not valid, by cause.',
  });
  const age = meter.createObservableGauge('doorward_snapshot_age_seconds', {
    unit: 's',
    description: 'Time since the last confirmation of the local policy.',
  });
  const bytes = meter.createObservableGauge('doorward_snapshot_bytes', {
    unit: 'By',
    description: 'Memory of the local policy.',
  });
  const observeLocal = (result: { observe(instrument: typeof age, value: number): void }): void => {
    const { local } = doorward;
    if (!local) return;
    if (local.ageMs !== null) result.observe(age, local.ageMs / 1000);
    result.observe(bytes, local.bytes);
  };
  meter.addBatchObservableCallback(observeLocal, [age, bytes]);

  return {
    onDecision({ local, reason, code, fallback }: DecisionEvent): void {
      decisions.add(1, { place: local ? 'local' : 'remote', reason: reason ?? code ?? 'UNKNOWN' });
      if (fallback !== undefined) fallbacks.add(1, { why: fallback });
    },
    onSnapshot({ kind, why }: SnapshotEvent): void {
      if (kind === 'refused') refused.add(1, { why: why ?? 'unknown' });
    },
    end: () => meter.removeBatchObservableCallback(observeLocal, [age, bytes]),
  };
}
