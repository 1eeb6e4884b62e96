import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail } from '../../errors.ts';
import type { NamedOperation } from '../../kernel/operation.ts';
import { CappedBody } from './capped-body.ts';
import { readForm } from './forms.ts';
import { structureFault } from './json-structure.ts';

const GRAPHQL = '/graphql';
const JSON_TYPE = 'application/json';

const forbiddenName = {
  details: [{ path: '', code: 'malformed_json' }],
  fix: 'No member of the body may be called __proto__.',
} as const;

type BodyLimits = Pick<NamedOperation, 'name' | 'bodyLimitBytes' | 'access'>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Length of the JSON body in characters; 0 without a body. */
    bodyLength: number;
    /** Whether the body exceeds the default limit, so that only operations with a larger limit may take it. */
    isLarge: boolean;
  }
}

/**
 * Parses JSON in UTF-8 (conventions §1), and forms for operations that accept them. Any other type gets 415. A missing
 * body is not an error here, and nothing is decompressed. An operation that takes files declares a larger limit.
 * GraphQL names its operations in the body, so there the larger limit applies to every caller who may call such an
 * operation, and graphql.ts refuses a large body that names none.
 */
export function registerBodyParser(app: FastifyInstance, operations: readonly BodyLimits[] = []): void {
  app.decorateRequest('bodyLength', 0);
  const defaultLimit = app.initialConfig.bodyLimit ?? 0;
  const large = operations.filter(({ bodyLimitBytes = 0 }) => bodyLimitBytes > defaultLimit);
  app.addHook('onRoute', (route) => {
    const own = large.filter(({ name }) => route.url === GRAPHQL || route.config?.operation === name);
    const limit = Math.max(...own.map(({ bodyLimitBytes = 0 }) => bodyLimitBytes));
    if (own.length > 0) route.bodyLimit = limit;
  });
  app.decorateRequest('isLarge', false);
  const maySendLarge = ({ authentication }: FastifyRequest): boolean =>
    authentication.ok &&
    large.some(({ access }) => access !== 'session' || authentication.principal.type === access);
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (request.route?.protocol === 'forward-auth') return done();
    const { 'content-encoding': encoding, 'content-length': length } = request.headers;
    if (encoding !== undefined && encoding !== 'identity') return done(fail('UNSUPPORTED_MEDIA_TYPE'));
    if (large.length === 0 || request.route?.url !== GRAPHQL || maySendLarge(request)) return done();
    if (length !== undefined && Number(length) <= defaultLimit) return done();
    if (length !== undefined) return done(fail('PAYLOAD_TOO_LARGE'));
    done(null, new CappedBody(payload, defaultLimit));
  });
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>(JSON_TYPE, { parseAs: 'string' }, (request, body, done) => {
    const type = request.headers['content-type'] ?? '';
    const charset = type === JSON_TYPE ? undefined : /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1];
    if (charset !== undefined && charset.toLowerCase() !== 'utf-8') {
      return done(fail('UNSUPPORTED_MEDIA_TYPE'), undefined);
    }
    if (body === '') return done(null, undefined);
    request.bodyLength = body.length;
    request.isLarge = Buffer.byteLength(body) > defaultLimit;
    const code = structureFault(body);
    if (code) return done(fail('VALIDATION_ERROR', { details: [{ path: '', code }] }), undefined);
    void parse(request, body, (error, value) => {
      // The parser refuses valid JSON because of this name, or because of `constructor.prototype`. Only the plain
      // spelling of this name is recognized here.
      const isForbidden = error !== null && body.includes('__proto__');
      done(isForbidden ? fail('VALIDATION_ERROR', forbiddenName) : error, value);
    });
  });
  app.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (request, body, done) => {
      if (!request.route?.takesForm) return done(fail('UNSUPPORTED_MEDIA_TYPE'), undefined);
      const read = readForm(request, body);
      if (read instanceof Error) return done(read, undefined);
      done(null, read);
    },
  );
}

/** Makes the routes of this scope accept and discard any body. */
export function ignoreBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
}
