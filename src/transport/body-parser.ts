import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail } from '../errors.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { CappedBody } from './capped-body.ts';
import { readForm } from './forms.ts';
import { structureFault } from './json-structure.ts';

const GRAPHQL = '/graphql';
const JSON_TYPE = 'application/json';

type Limits = Pick<NamedOperation, 'name' | 'bodyLimitBytes' | 'access'>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Characters of its JSON; 0 without. */
    bodyLength: number;
    /** The body is as long as only operations that take files may have it. */
    isLarge: boolean;
  }
}

/**
 * JSON in UTF-8 (conventions §1), and forms where the operation takes them: everything else is 415. An absent body is
 * no error by itself, and nothing is decompressed. An operation that takes files has a limit of its own. On GraphQL its
 * limit holds for those who may call it at all, because what a body asks for is known only once it is read; there it is
 * refused if it asks for no such operation (graphql.ts).
 */
export function registerBodyParser(app: FastifyInstance, operations: readonly Limits[] = []): void {
  app.decorateRequest('bodyLength', 0);
  const usual = app.initialConfig.bodyLimit ?? 0;
  const large = operations.filter(({ bodyLimitBytes = 0 }) => bodyLimitBytes > usual);
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
    if (request.route?.ignoresBody) return done();
    const { 'content-encoding': encoding, 'content-length': length } = request.headers;
    if (encoding !== undefined && encoding !== 'identity') return done(fail('UNSUPPORTED_MEDIA_TYPE'));
    if (large.length === 0 || request.route?.url !== GRAPHQL || maySendLarge(request)) return done();
    if (length !== undefined && Number(length) <= usual) return done();
    if (length !== undefined) return done(fail('PAYLOAD_TOO_LARGE'));
    done(null, new CappedBody(payload, usual));
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
    request.isLarge = Buffer.byteLength(body) > usual;
    const code = structureFault(body);
    if (code) return done(fail('VALIDATION_ERROR', { details: [{ path: '', code }] }), undefined);
    void parse(request, body, done);
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

/** Routes of this scope take whatever is sent, and look at none of it. */
export function ignoreBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
}
