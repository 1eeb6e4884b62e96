import type { FastifyInstance } from 'fastify';
import { fail } from '../errors.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { readForm } from './forms.ts';
import { structureFault } from './json-structure.ts';

const GRAPHQL = '/graphql';
const JSON_TYPE = 'application/json';

declare module 'fastify' {
  interface FastifyRequest {
    /** Characters of its JSON; 0 without. */
    bodyLength: number;
  }
}

type Limits = Pick<NamedOperation, 'name' | 'bodyLimitBytes'>;

/**
 * JSON in UTF-8 (conventions §1), and forms where the operation takes them: everything else is 415. An absent body is
 * no error by itself, and nothing is decompressed. An operation that takes files has a limit of its own; on GraphQL so
 * has a request that names it.
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
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const encoding = request.headers['content-encoding'];
    const isRead = !request.route?.ignoresBody;
    if (isRead && encoding !== undefined && encoding !== 'identity') done(fail('UNSUPPORTED_MEDIA_TYPE'));
    else done();
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
    const isLarge = request.route?.url === GRAPHQL && Buffer.byteLength(body) > usual;
    if (isLarge && !large.some(({ name }) => body.includes(name))) {
      return done(fail('PAYLOAD_TOO_LARGE'), undefined);
    }
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
