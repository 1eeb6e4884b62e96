import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { readGauges } from '../db/gauges.ts';
import type { Database } from '../db/open.ts';
import type { Services } from '../kernel/context.ts';
import type { AnyEntity } from '../kernel/entity.ts';
import type { Invoke } from '../kernel/invoke.ts';
import { schemasOf, type Schemas } from '../kernel/json-schema.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { registerBodyParser } from './body-parser.ts';
import { registerDocsPage } from './docs-page.ts';
import { toDoorwardError } from './error-body.ts';
import { registerExplorer } from './explorer-page.ts';
import { registerGraphql } from './graphql.ts';
import type { Related } from './graphql-relations.ts';
import { applyEffects, callOf } from './http.ts';
import { registerMetrics, type MetricsOptions } from './metrics.ts';
import type { DocumentSource } from './openapi.ts';
import { DocumentText } from './openapi/document-text.ts';
import { limitCalls, type RateLimiter } from './rate-limit.ts';
import { registerRest, type RestOptions } from './rest.ts';
import { languageOf } from './send-error.ts';

/** What every transport is derived from, and what they share: both explorers, the document, the way of an error. */
export interface ServedOptions {
  readonly config: Config;
  readonly operations: readonly NamedOperation[];
  readonly entities: readonly AnyEntity[];
  readonly invoke: Invoke;
  readonly limiter: RateLimiter;
  readonly services: Services;
  /** Of which the metrics tell. */
  readonly database: Database;
  /** Rows of a relation, for nested fields of GraphQL. */
  readonly related: Related;
  /** What the OpenAPI document tells beside the operations. */
  readonly document: Pick<DocumentSource, 'version' | 'tags' | 'events'>;
  readonly log: (error: unknown, message: string, requestId: string) => void;
  /** Where requests wait, for the metrics. */
  readonly queues: MetricsOptions['queues'];
  readonly worker?: MetricsOptions['worker'];
}

/** Declarations do not change, so each list of them is rendered once, however many servers a process starts. */
const rendered = new WeakMap<readonly NamedOperation[], Schemas>();

/** The operations over REST and GraphQL on one server, with their documents. */
export function serveOperations(
  server: FastifyInstance,
  options: ServedOptions,
): Pick<DocumentText, 'showExamplesOf'> {
  const { config, operations, entities, database, limiter, services, related, log, queues, worker } = options;
  const gauges = () => readGauges(database);
  const figures = { ...config.metrics, gauges, queues, worker };
  const invoke = registerMetrics(server, figures, options.invoke);
  registerBodyParser(server, operations);
  const schemas = rendered.get(operations) ?? schemasOf(operations);
  rendered.set(operations, schemas);
  const served: Omit<RestOptions, 'callOf'> = {
    operations,
    schemas,
    invoke,
    applyEffects: (call, reply) => applyEffects(call.effects, reply, config.security.https),
  };
  registerRest(server, { ...served, callOf: (request) => callOf(request, config, 'rest') });
  registerGraphql(server, {
    ...served,
    entities: new Map(entities.map((entity) => [entity.name, entity])),
    callOf: (request) => callOf(request, config, 'graphql'),
    related,
    limit: limitCalls(limiter),
    services,
    languageOf,
    requestIdOf: (request) => request.id,
    limits: config.graphql.limits,
    introspection: config.graphql.introspection,
    explorer: config.graphql.explorer,
    production: config.production,
    log: (error, request) => log(toDoorwardError(error).extras.cause ?? error, 'graphql', request.id),
  });
  const document = new DocumentText({ operations, schemas, ...options.document });
  registerDocsPage(server, {
    enabled: config.docs.enabled,
    document: document.read,
    explorer: config.graphql.explorer,
  });
  registerExplorer(server, { enabled: config.graphql.explorer });
  return { showExamplesOf: document.showExamplesOf };
}
