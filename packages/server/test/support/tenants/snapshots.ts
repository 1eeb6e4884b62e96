import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { applyChanges, compileSnapshot, type Policy } from '@doorward/decision/decision';
import type { ChangesClaims, SnapshotClaims } from '@doorward/decision/snapshot-claims';
import type { ScopeRef } from '../../../src/kernel/scope.ts';
import type { TestApp } from '../app/app.ts';
import type { Answer } from '../app/client.ts';

/** A policy snapshot as a server of the customer reads it: over REST, with its signature verified by the project's JWKS. */
export interface Read<C> {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: C;
  readonly text: string;
}

export interface Reader {
  snapshot(options?: ReadOptions): Promise<Read<SnapshotClaims>>;
  changes(since: string, options?: ReadOptions & PollOptions): Promise<Read<ChangesClaims>>;
  /** The same without a check of the answer. */
  raw(
    path: '' | '/changes',
    query?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

interface ReadOptions {
  readonly users?: string;
  readonly minRevision?: string;
}
interface PollOptions {
  readonly timeoutSeconds?: number;
}

export function snapshotReader(app: TestApp, scope: ScopeRef, token: string): Reader {
  async function raw(
    path: '' | '/changes',
    query: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await app.server.inject({
      method: 'GET',
      url: `/api/policy-snapshot${path}`,
      query: { tenant: scope.tenant, scopeId: scope.id, ...query },
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    const body = isJson ? response.json<Record<string, unknown>>() : {};
    return {
      ok: response.statusCode < 400,
      status: response.statusCode,
      data: null,
      code: (body['code'] ?? null) as Answer['code'],
      reason: (body['reason'] ?? null) as string | null,
      details: (body['details'] ?? []) as Answer['details'],
      headers: response.headers,
      body: response.body,
      cookies: response.cookies,
    };
  }

  async function read<C>(path: '' | '/changes', query: Record<string, string>): Promise<Read<C>> {
    const answer = await raw(path, query);
    if (!answer.ok) throw new Error(`${answer.status}: ${answer.body}`);
    return verified<C>(app, scope, answer.body);
  }
  const parameters = ({ timeoutSeconds, ...others }: ReadOptions & PollOptions = {}) => ({
    ...(others as Record<string, string>),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds: String(timeoutSeconds) }),
  });
  return {
    raw,
    snapshot: (options) => read('', parameters(options)),
    changes: (since, options) => read('/changes', { since, ...parameters(options) }),
  };
}

/** @throws Error for a document that the key in its header did not sign */
async function verified<C>(app: TestApp, scope: ScopeRef, text: string): Promise<Read<C>> {
  const [head = '', payload = '', signature = ''] = text.split('.');
  const header = parsed<Record<string, unknown>>(head);
  const [owner = '', project = ''] = scope.id.split(':');
  const path = `/${scope.tenant === 'organizationProject' ? 'org' : 'acc'}/${owner}/prj/${project}/.well-known/jwks.json`;
  const { keys } = (await app.server.inject({ method: 'GET', url: path })).json<{
    keys: (JsonWebKey & { kid: string })[];
  }>();
  const key = keys.find(({ kid }) => kid === header['kid']);
  if (!key) throw new Error(`no key ${String(header['kid'])}`);
  const publicKey = createPublicKey({ key, format: 'jwk' });
  if (!verify('sha256', Buffer.from(`${head}.${payload}`), publicKey, Buffer.from(signature, 'base64url')))
    throw new Error('the signature is wrong');
  return { header, claims: parsed<C>(payload), text };
}

const parsed = <T>(part: string): T => JSON.parse(Buffer.from(part, 'base64url').toString()) as T;

/** The policy that a process of a customer has after a snapshot and changes. */
export const policyOf = (snapshot: SnapshotClaims, ...changes: readonly ChangesClaims[]): Policy =>
  changes.reduce((policy, next) => applyChanges(policy, next), compileSnapshot(snapshot));
