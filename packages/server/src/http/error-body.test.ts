import { DrizzleQueryError } from 'drizzle-orm/errors';
import Fastify, { type FastifyReply, type InjectOptions } from 'fastify';
import { GraphQLError } from 'graphql';
import { afterAll, describe, expect, it } from 'vitest';
import { fail, type Code } from '../errors.ts';
import { graphqlError, restErrorBody, toDoorwardError } from './error-body.ts';

const context = { language: 'de', requestId: 'req-12345678' } as const;

describe('bodies', () => {
  it('has the four members of every error, and no more', () => {
    expect(restErrorBody(fail('NOT_FOUND'), context)).toEqual({
      error: 'Nicht gefunden.',
      code: 'NOT_FOUND',
      requestId: 'req-12345678',
    });
    expect(graphqlError(fail('NOT_FOUND'), context)).toEqual({
      message: 'Nicht gefunden.',
      extensions: { code: 'NOT_FOUND', requestId: 'req-12345678' },
    });
  });

  it('localizes message and details; fix and reason stay', () => {
    const error = fail('FORBIDDEN', {
      details: [{ path: 'scope.id', code: 'format' }],
      fix: 'Ask an owner.',
      reason: 'NO_PERMISSION',
    });
    const extensions = {
      code: 'FORBIDDEN',
      requestId: 'req-12345678',
      details: [{ path: 'scope.id', message: 'Dieser Wert hat das falsche Format.', code: 'format' }],
      fix: 'Ask an owner.',
      reason: 'NO_PERMISSION',
    };
    const message = 'Dazu sind Sie nicht berechtigt.';
    expect(restErrorBody(error, context)).toEqual({ error: message, ...extensions });
    expect(graphqlError(error, context)).toEqual({ message, extensions });
  });

  it('fills holes', () => {
    expect(
      restErrorBody(fail('RATE_LIMITED', { params: { seconds: 7 } }), { ...context, language: 'en' }),
    ).toMatchObject({ error: 'Too many requests; retry in 7 seconds.' });
  });

  it('leaves out empty details, a reason that is not of a denial, and the cause', () => {
    const error = fail('CONFLICT', { details: [], reason: 'NO_PERMISSION', cause: new Error('secret') });
    expect(Object.keys(restErrorBody(error, context))).toEqual(['error', 'code', 'requestId']);
  });

  it('tells at most 20 details', () => {
    const details = Array.from({ length: 30 }, (_, index) => ({
      path: `ids.${index}`,
      code: 'format' as const,
    }));
    expect(restErrorBody(fail('VALIDATION_ERROR', { details }), context).details).toHaveLength(20);
  });
});

const withCode = (code: string) => Object.assign(new Error('x'), { code });

describe('toDoorwardError', () => {
  it('gives a DoorwardError back, also out of a wrapper', () => {
    const error = fail('LAST_OWNER');
    expect(toDoorwardError(error)).toBe(error);
    expect(toDoorwardError(new GraphQLError('x', { originalError: error }))).toBe(error);
  });

  it.each<[string, Code]>([
    ['23505', 'CONFLICT'],
    ['22P02', 'VALIDATION_ERROR'],
    ['22021', 'VALIDATION_ERROR'],
    ['22P05', 'VALIDATION_ERROR'],
    ['57014', 'UNAVAILABLE'],
    ['53300', 'UNAVAILABLE'],
    ['53100', 'UNAVAILABLE'],
    ['53200', 'UNAVAILABLE'],
    ['58030', 'UNAVAILABLE'],
    ['25006', 'UNAVAILABLE'],
    ['57P01', 'UNAVAILABLE'],
    ['57P03', 'UNAVAILABLE'],
    ['08006', 'UNAVAILABLE'],
    ['ECONNREFUSED', 'UNAVAILABLE'],
    ['ECONNRESET', 'UNAVAILABLE'],
    ['23503', 'INTERNAL_ERROR'],
    ['42P01', 'INTERNAL_ERROR'],
    ['ENOENT', 'INTERNAL_ERROR'],
  ])('%s → %s, bare and wrapped by drizzle', (sqlState, code) => {
    for (const thrown of [withCode(sqlState), new DrizzleQueryError('select 1', [], withCode(sqlState))]) {
      const error = toDoorwardError(thrown);
      expect(error.code).toBe(code);
      expect(error.extras.headers).toEqual(code === 'UNAVAILABLE' ? { 'Retry-After': '1' } : undefined);
      expect(error.cause).toBeDefined();
    }
  });

  it.each([
    'timeout exceeded when trying to connect',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'Cannot use a pool after calling end on the pool',
  ])('%s → UNAVAILABLE', (message) => expect(toDoorwardError(new Error(message)).code).toBe('UNAVAILABLE'));

  it.each<[string, unknown]>([
    ['an error', new Error('x')],
    ['text', 'x'],
    ['nothing', undefined],
    ['null', null],
    [
      'a status of another server',
      new Error('x', { cause: Object.assign(new Error('y'), { statusCode: 400 }) }),
    ],
  ])('%s → INTERNAL_ERROR with the cause', (_name, thrown) => {
    const error = toDoorwardError(thrown);
    expect(error.code).toBe('INTERNAL_ERROR');
    expect(error.cause).toBe(thrown);
  });

  it('ends on a cycle', () => {
    const cycle = new Error('x');
    cycle.cause = cycle;
    expect(toDoorwardError(cycle).code).toBe('INTERNAL_ERROR');
  });

  it('takes the parameters of a failed query out of the cause', () => {
    const thrown = new DrizzleQueryError('insert into a values ($1)', ['hunter2'], withCode('42P01'));
    expect(thrown.stack).toContain('hunter2');
    const cause = toDoorwardError(thrown).cause as Error;
    expect(`${cause.message} ${cause.stack} ${JSON.stringify(cause)}`).not.toContain('hunter2');
    expect(cause.message).toContain('insert into a');
    expect(cause.stack).toContain('error-body.test.ts');
    expect(cause.cause).toBe(thrown.cause);
  });
});

describe('what Fastify throws', () => {
  const answerWith = (thrown: unknown, reply: FastifyReply) => {
    const error = toDoorwardError(thrown);
    void reply.send({ status: error.status, code: error.code, details: error.extras.details });
  };
  const app = Fastify({
    bodyLimit: 100,
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    routerOptions: { maxParamLength: 40 },
    frameworkErrors: (error, _request, reply) => answerWith(error, reply),
  });
  app.setErrorHandler((error, _request, reply) => answerWith(error, reply));
  app.post('/x', () => 'ok');
  app.get('/x/:id', () => 'ok');
  afterAll(() => app.close());

  const json = { 'content-type': 'application/json' };
  const fault = (code: string) => ({ code: 'VALIDATION_ERROR', details: [{ path: '', code }] });

  it.each<[string, InjectOptions, object]>([
    ['empty body', { method: 'POST', url: '/x', headers: json }, fault('empty_body')],
    ['malformed', { method: 'POST', url: '/x', headers: json, payload: '{' }, fault('malformed_json')],
    [
      '__proto__',
      { method: 'POST', url: '/x', headers: json, payload: '{"__proto__":{}}' },
      fault('malformed_json'),
    ],
    [
      'large body',
      { method: 'POST', url: '/x', headers: json, payload: `"${'a'.repeat(200)}"` },
      { status: 413, code: 'PAYLOAD_TOO_LARGE' },
    ],
    [
      'media type',
      { method: 'POST', url: '/x', headers: { 'content-type': 'text/xml' }, payload: '<a/>' },
      { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
    ],
    ['bad url', { method: 'GET', url: '/x/%zz' }, { status: 404, code: 'NOT_FOUND' }],
    [
      'wrong length',
      { method: 'POST', url: '/x', headers: { ...json, 'content-length': '3' }, payload: '"abcdef"' },
      { code: 'VALIDATION_ERROR' },
    ],
  ])('%s', async (_name, request, expected) => {
    const answer = await app.inject(request);
    expect(answer.json()).toMatchObject(expected);
  });
});
