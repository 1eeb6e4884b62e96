import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, type ExecutionResult } from 'graphql';
import { DoorwardError, fail } from '../errors.ts';
import type { Language } from '../i18n/translate.ts';
import type { Call } from '../kernel/context.ts';
import type { AnyEntity } from '../kernel/entity.ts';
import type { Invoke, Seen } from '../kernel/invoke.ts';
import type { Schemas } from '../kernel/json-schema.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { Rehearsed } from '../kernel/reply.ts';
import type { Stages } from '../kernel/stages.ts';
import { releaseSlot } from './admission/request-slot.ts';
import { graphqlError, toDoorwardError } from './error-body.ts';
import { sendExplorer } from './explorer-page.ts';
import { createCharges } from './graphql-charges.ts';
import { createPlanner, Unrunnable, type Fault, type Run } from './graphql-document.ts';
import { assertFewIntrospections, assertFewSelections, tooComplex } from './graphql-limits.ts';
import { relationResolver, trace, type Related } from './graphql-relations.ts';
import { answerType, fromBody, fromQuery, type GraphqlRequest } from './graphql-request.ts';
import { buildGraphqlSchema, type Resolver } from './graphql-schema.ts';

import { jsonBytes } from './json-size.ts';
import { withRelations } from './selected-relations.ts';

/**
 * Declarations → `/graphql`. Documents are tested before anything runs; one request, batch or not, has one call,
 * one allowance of cost and of sensitive fields. Operations of a batch run one after the other.
 */
export interface GraphqlOptions {
  readonly operations: readonly NamedOperation[];
  readonly schemas: Schemas;
  readonly entities: ReadonlyMap<string, AnyEntity>;
  readonly invoke: Invoke;
  readonly limit: Stages['limit'];
  readonly services: Stages['services'];
  /** The call of a request, already authenticated; its effects collect cookies and headers. */
  readonly callOf: (request: FastifyRequest) => Call;
  readonly applyEffects: (call: Call, reply: FastifyReply) => void;
  /** Raw rows: only public members of them leave. */
  readonly related: Related;
  readonly languageOf: (request: FastifyRequest) => Language;
  readonly requestIdOf: (request: FastifyRequest) => string;
  readonly limits: {
    readonly depth: number;
    readonly aliases: number;
    readonly cost: number;
    readonly batch: number;
  };
  readonly introspection: boolean;
  readonly explorer: boolean;
  readonly production: boolean;
  readonly log: (error: unknown, request: FastifyRequest) => void;
}

/** Takes a guess at a secret: one field an HTTP request, so that a batch is no faster guesser. */
const isGuess = ({ kind, access, limit }: NamedOperation): boolean =>
  kind === 'mutation' && (access === 'public' || limit?.class === 'auth');

interface Context {
  readonly call: Call;
  /** What dry runs would have done, by the name of the field in the answer. */
  readonly dryRun: Record<string, unknown>;
  /** Places of the fields that are counted in the class of their operation. */
  readonly charged: ReadonlySet<string>;
}

/** What became of one document. */
interface Outcome {
  readonly executed: boolean;
  readonly data: unknown;
  readonly dryRun?: Context['dryRun'];
  readonly faults: readonly Fault[];
}

export function registerGraphql(app: FastifyInstance, options: GraphqlOptions): void {
  const { limits, invoke } = options;
  const field =
    (op: NamedOperation): Resolver =>
    async (_root, args, context, info) => {
      const { call, dryRun, charged } = context as Context;
      const { input, isWhole, relations } = withRelations(op, args['input'], info);
      const [node] = info.fieldNodes;
      const place = (node?.alias ?? node?.name)?.value ?? '';
      const seen: Seen = { picks: isWhole, relations, charged: charged.has(place) };
      const given = await invoke(op, input, call, seen);
      if (given instanceof Rehearsed) dryRun[info.path.key] = given.impact;
      const answer = given instanceof Rehearsed ? given.answer : given;
      const { scope, related } = seen;
      if (scope && related && !isWhole) {
        trace(answer, info.returnType, { scope, related, loaders: new Map() });
      }
      return answer;
    };
  const schema = buildGraphqlSchema({
    ...options,
    resolve: { field, relation: (entity, relation) => relationResolver(entity, relation, options.related) },
  });
  const operations = new Map(options.operations.map((op) => [op.name, op]));
  const sensitive = new Set(options.operations.filter(isGuess).map(({ name }) => name));
  const takesFile = (run: Run | Outcome): boolean =>
    'fields' in run && run.fields.some(({ name }) => operations.get(name)?.bodyLimitBytes !== undefined);
  const plan = createPlanner({ ...options, schema, sensitive });

  async function answer(requests: readonly GraphqlRequest[], request: FastifyRequest, reply: FastifyReply) {
    let cost = 0;
    let selections = 0;
    let introspections = 0;
    let sensitive = 0;
    let mutations = 0;
    const runs = requests.map(({ query, variables, operationName }): Run | Outcome => {
      if (typeof query !== 'string')
        return { executed: true, data: null, faults: [{ error: fail('PERSISTED_QUERY_NOT_SUPPORTED') }] };
      try {
        const planned = plan(query, operationName ?? undefined);
        if (request.method !== 'POST' && planned.kind === 'mutation') {
          throw fail('METHOD_NOT_ALLOWED', { headers: { Allow: 'POST' } });
        }
        selections += planned.selections;
        assertFewSelections(selections);
        introspections += planned.introspections;
        assertFewIntrospections(introspections);
        sensitive += planned.sensitive;
        if (planned.kind === 'mutation') mutations += planned.names.length;
        const run = planned.bind(variables ?? {});
        cost += run.cost;
        return run;
      } catch (error) {
        if (error instanceof Unrunnable) return { executed: false, data: null, faults: error.faults };
        throw error;
      }
    });
    if (cost > limits.cost) throw tooComplex(`cost > ${limits.cost}`);
    if (sensitive > 1) throw tooComplex('sensitive fields > 1');
    if (request.isLarge && !runs.some(takesFile)) throw fail('PAYLOAD_TOO_LARGE');
    const call = options.callOf(request);
    if (mutations > 1 && call.idempotencyKey !== null) {
      const details = [{ path: 'Idempotency-Key', code: 'not_allowed' }] as const;
      throw fail('VALIDATION_ERROR', { details, fix: 'Send one mutation a request with Idempotency-Key.' });
    }
    const charged = await charge(runs, call, request);
    const outcomes: Outcome[] = [];
    try {
      for (const [at, run] of runs.entries()) {
        const context: Context = { call, dryRun: {}, charged: charged[at] ?? new Set() };
        outcomes.push('start' in run ? outcome(await within(run, context), context, request) : run);
      }
    } finally {
      releaseSlot(call);
    }
    options.applyEffects(call, reply);
    return outcomes;
  }

  const counted = new WeakSet<FastifyRequest>();

  /** Counts all that a request asks for, before any of it runs; what cannot run counts as one field. */
  async function charge(
    runs: readonly (Run | Outcome)[],
    call: Call,
    request: FastifyRequest,
  ): Promise<ReadonlySet<string>[]> {
    counted.add(request);
    const charges = createCharges(operations, call, options);
    const charged = runs.map((run) => {
      const fields = 'fields' in run ? run.fields : [{ place: '', name: '', input: null }];
      return new Set(fields.filter((field) => charges.add(field)).map(({ place }) => place));
    });
    await charges.take();
    return charged;
  }

  /** Runs, unless the request was answered too much already; nor does a field that makes it too much answer. */
  async function within(run: Run, context: Context): Promise<ExecutionResult> {
    const { budget } = context.call;
    const path: string[] = [];
    try {
      budget.assertNotExceeded();
      const result = await run.start(context);
      for (const [name, value] of Object.entries(result.data ?? {})) {
        path[0] = name;
        budget.takeBytes(jsonBytes(value, budget.bytes));
      }
      return result;
    } catch (error) {
      if (!(error instanceof DoorwardError)) throw error;
      return { errors: [new GraphQLError(error.code, { path, originalError: error })] };
    }
  }

  function outcome(
    { data, errors = [] }: ExecutionResult,
    { dryRun }: Context,
    request: FastifyRequest,
  ): Outcome {
    // One cause may fail many fields.
    const causes = new Map(errors.map((error) => [error.originalError ?? error, error]));
    const faults = [...causes].map(([cause, { path, locations }]) => {
      const error = toDoorwardError(cause);
      if (error.isFault) options.log(error.extras.cause ?? error, request);
      return { error, path, locations };
    });
    return { executed: true, data, dryRun, faults };
  }

  /** `revision`: one for all of a batch, since what ran later was committed later. */
  function rendered({ data, dryRun = {}, faults }: Outcome, request: FastifyRequest, revision: unknown) {
    const told = {
      ...(Object.keys(dryRun).length > 0 && { dryRun }),
      ...(revision !== undefined && { revision }),
    };
    const extensions = Object.keys(told).length > 0 ? told : undefined;
    if (faults.length === 0) return { data, extensions };
    const context = { language: options.languageOf(request), requestId: options.requestIdOf(request) };
    const errors = faults.map(({ error, path, locations }) => {
      const { message, extensions } = graphqlError(error, context);
      return { message, path, locations, extensions };
    });
    return { data: null, errors, extensions };
  }

  function send(
    outcomes: readonly Outcome[],
    { batch = false, status }: { batch?: boolean; status?: number },
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    const errors = outcomes.flatMap(({ faults }) => faults.map(({ error }) => error));
    const pressing =
      errors.find((error) => error.status === 429) ?? errors.find((error) => error.status === 503);
    if (pressing) reply.headers({ ...pressing.extras.headers });
    if (errors.length > 0) {
      reply.header('content-language', options.languageOf(request)).header('vary', 'Accept-Language, Origin');
    }
    const bodies = outcomes.map((one) => rendered(one, request, reply.getHeader('x-doorward-revision')));
    const executed = outcomes.some((one) => one.executed);
    return reply
      .status(status ?? pressing?.status ?? (executed ? 200 : 400))
      .type(answerType(request.headers.accept))
      .send(JSON.stringify(batch ? bodies : bodies[0]));
  }

  /** A request that was refused as a whole, perhaps by the server's hooks. */
  async function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
    const error = await whyRefused(thrown, request, reply);
    const { status } = error;
    if (error.isFault) options.log(error.extras.cause ?? error, request);
    // The answer is already too long, so the rest is not awaited.
    if (error.code === 'PAYLOAD_TOO_LARGE') reply.header('connection', 'close');
    reply.headers({ ...error.extras.headers });
    return send([{ executed: false, data: null, faults: [{ error }] }], { status }, request, reply);
  }

  /** What was refused before it was counted counts as one field. */
  async function whyRefused(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
    const error = toDoorwardError(thrown);
    const authentication = request.authentication as FastifyRequest['authentication'] | null | undefined;
    if (!authentication || error.status === 429 || counted.has(request)) return error;
    const call = options.callOf(request);
    try {
      await charge([], call, request);
      options.applyEffects(call, reply);
      return error;
    } catch (limited) {
      return toDoorwardError(limited);
    }
  }

  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    config: { rate: 'fields' },
    errorHandler: (error, request, reply) => void refuse(error, request, reply),
    handler: async (request, reply) => {
      if (request.method === 'POST') {
        const { requests, batch } = fromBody(request, limits.batch);
        return send(await answer(requests, request, reply), { batch }, request, reply);
      }
      if (!request.headers.accept?.includes('text/html')) {
        return send(await answer(fromQuery(request).requests, request, reply), {}, request, reply);
      }
      if (!options.explorer) throw fail('NOT_FOUND');
      await charge([], options.callOf(request), request);
      return sendExplorer(reply);
    },
  });
}
