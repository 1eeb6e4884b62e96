import type { FastifyInstance } from 'fastify';
import type { Config } from './config/config.ts';
import { readGauges } from './db/connection/gauges.ts';
import type { Database } from './db/connection/open.ts';
import type { AnyEntity } from './kernel/entity.ts';
import type { Invoke } from './kernel/invoke.ts';
import { schemasOf, type Schemas } from './kernel/output/json-schema.ts';
import type { NamedOperation } from './kernel/operation.ts';
import type { Services } from './services.ts';
import { createAccountCalls, type AccountCalls } from './http/account/account-calls.ts';
import { registerBodyParser } from './http/body/body-parser.ts';
import { registerDocsPage } from './explorer/docs-page.ts';
import { toDoorwardError } from './http/error-body.ts';
import { registerConsole } from './explorer/console-page.ts';
import { registerDocsSite } from './explorer/docs-site.ts';
import { registerExplorer } from './explorer/explorer-page.ts';
import { registerGraphql } from './graphql/graphql.ts';
import type { Related } from './graphql/relations.ts';
import { urlWithFlow } from './http/cookies/flow-cookies.ts';
import { applyEffects, callOf } from './http/server.ts';
import { registerMetrics, type MetricsOptions } from './http/metrics.ts';
import type { DocumentSource } from './openapi/openapi.ts';
import { DocumentText } from './openapi/document-text.ts';
import { limitCalls, type RateLimiter } from './http/rate-limit.ts';
import { registerRest, type RestOptions } from './rest/rest.ts';
import { languageOf } from './http/send-error.ts';

/** The declarations and services that REST, GraphQL, the API documents and the explorers share. */
interface TransportOptions {
  readonly config: Config;
  /** The folders of the built console and documentation; absent if they were not built. */
  readonly built: { readonly consoleFolder?: string; readonly docsFolder?: string };
  readonly operations: readonly NamedOperation[];
  readonly entities: readonly AnyEntity[];
  readonly invoke: Invoke;
  readonly limiter: RateLimiter;
  readonly services: Services;
  /** The database whose gauges the metrics contain. */
  readonly database: Database;
  /** Reads rows of a relation, for nested fields of GraphQL. */
  readonly related: Related;
  /** The parts of the OpenAPI document besides the operations. */
  readonly document: Pick<DocumentSource, 'version' | 'tags' | 'events'>;
  readonly log: (error: unknown, message: string, requestId: string) => void;
  /** The queues whose state the metrics contain. */
  readonly queues: MetricsOptions['queues'];
  readonly worker?: MetricsOptions['worker'];
}

/**
 * Caches the JSON Schemas. Declarations are constant, so a process that starts several servers builds them only once.
 */
const schemasByOperations = new WeakMap<readonly NamedOperation[], Schemas>();

/** Serves the operations over REST and GraphQL, with their documents and explorers. */
export function serveOperations(
  server: FastifyInstance,
  options: TransportOptions,
): Pick<DocumentText, 'setExampleIds'> & { readonly account: AccountCalls } {
  const { config, operations, entities, database, limiter, services, related, log, queues, worker } = options;
  const gauges = () => readGauges(database);
  const figures = { ...config.metrics, gauges, queues, worker };
  const invoke = registerMetrics(server, figures, options.invoke);
  registerBodyParser(server, operations);
  const schemas = schemasByOperations.get(operations) ?? schemasOf(operations);
  schemasByOperations.set(operations, schemas);
  const served: Omit<RestOptions, 'callOf'> = {
    operations,
    schemas,
    invoke,
    applyEffects: (call, reply) => applyEffects(call.effects, reply, config.security.https),
    urlWithFlow: (url, { effects: { flowCookie }, flowCookie: own }) => {
      const begun = typeof flowCookie === 'object' ? flowCookie.value : own;
      return urlWithFlow(config.appUrl, url, begun);
    },
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
  const { consoleFolder, docsFolder } = options.built;
  if (config.console.enabled && consoleFolder !== undefined) registerConsole(server, consoleFolder);
  if (config.docs.enabled && docsFolder !== undefined) registerDocsSite(server, docsFolder);
  const account = createAccountCalls({ config, operations, invoke, services });
  return { setExampleIds: document.setExampleIds, account };
}
