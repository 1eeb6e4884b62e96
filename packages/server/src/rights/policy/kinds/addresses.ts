import { rowsIn, type PolicyDocument } from '@doorward/decision/document/document';
import { evaluateWithoutConditions } from '@doorward/decision/evaluate';
import { sql } from 'drizzle-orm';
import { rowsOf } from '../../../db/statements/rows.ts';
import { DoorwardError, fail, type Detail } from '../../../errors.ts';
import type { Services } from '../../../services.ts';
import type { CallerRights } from '../../../kernel/call/caller-rights.ts';
import type { ResolvedScope } from '../../../kernel/scope.ts';
import type { Executor } from '../../../kernel/scoped-db.ts';
import { entityOf } from '../document/kinds.ts';
import type { Comparison } from '../document/match.ts';

/*
 * Addresses in a document that the service will call. Checking them queries name servers that the caller has chosen, so
 * it happens before the transaction.
 */

interface AddressContext {
  readonly scope: ResolvedScope;
  readonly rights: CallerRights;
  readonly services: Pick<Services, 'assertUrlAllowed'>;
  readonly read: <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;
}

interface Address {
  readonly kind: AddressedKind;
  readonly path: string;
  readonly url: string;
}
type AddressedKind = keyof typeof addressIn;

/** The member with the address, by kind. */
const addressIn = { webhooks: 'url', apps: 'backchannelLogoutUri' } as const;
const kinds = Object.keys(addressIn) as AddressedKind[];
const isAddressed = (kind: string): kind is AddressedKind => kind in addressIn;

const MAX_DETAILS = 20;

/** Whether a document that is not validated yet may contain an address. */
export const mayNameAddresses = (policy: Readonly<Record<string, unknown>> | undefined): boolean =>
  kinds.some((kind) => Object.keys(policy?.[kind] ?? {}).length > 0);

const addressesOf = (document: PolicyDocument): Address[] =>
  kinds.flatMap((kind) =>
    Object.entries(rowsIn(document, kind)).flatMap(([key, row]) => {
      const url = row[addressIn[kind]];
      return typeof url === 'string' ? [{ kind, path: pathOf(kind, key), url }] : [];
    }),
  );

const pathOf = (kind: AddressedKind, key: string): string => `policy.${kind}.${key}.${addressIn[kind]}`;

/**
 * The addresses that an applied document may set: addresses that rows of the project already have, and addresses that
 * this function has checked. An address is checked only if the caller may change rows of its kind; otherwise the
 * service queries no name server.
 *
 * @throws WEBHOOK_URL_NOT_ALLOWED, with paths that begin with `policy`
 */
export async function allowedAddresses(
  ctx: AddressContext,
  document: PolicyDocument,
): Promise<ReadonlySet<string>> {
  const named = addressesOf(document);
  if (named.length === 0) return new Set();
  const stored = new Set(await ctx.read((tx) => storedAddresses(tx, ctx.scope.nodeId)));
  const fresh = named.filter(({ kind, url }) => !stored.has(url) && mayChange(kind, ctx.rights));
  await assertAllowed(ctx.services, fresh);
  return new Set([...stored, ...fresh.map(({ url }) => url)]);
}

async function storedAddresses(tx: Executor, projectId: string): Promise<string[]> {
  const rows = await rowsOf<{ url: string }>(
    tx,
    sql`select url from webhook_subscriptions where tenant_id = ${projectId}::uuid and deleted_at is null
      union select backchannel_logout_uri from project_apps where tenant_id = ${projectId}::uuid and deleted_at is null
        and backchannel_logout_uri is not null`,
  );
  return rows.map(({ url }) => url);
}

const mayChange = (kind: AddressedKind, { grants }: CallerRights): boolean =>
  ['Create', 'Update'].some((action) => {
    const decision = evaluateWithoutConditions(grants, { resource: entityOf[kind].name, action });
    return decision === 'conditional' || decision.authorized;
  });

async function assertAllowed(
  { assertUrlAllowed }: Pick<Services, 'assertUrlAllowed'>,
  addresses: readonly Address[],
): Promise<void> {
  const checked = await Promise.allSettled(addresses.map(({ url, path }) => assertUrlAllowed(url, path)));
  const refusals = checked.flatMap((result) => {
    if (result.status === 'fulfilled') return [];
    const error: unknown = result.reason;
    if (error instanceof DoorwardError && error.code === 'WEBHOOK_URL_NOT_ALLOWED') return [error.extras];
    throw error;
  });
  if (refusals.length === 0) return;
  const details = refusals.flatMap((extras): readonly Detail[] => extras.details ?? []);
  const fix = refusals[0]?.fix;
  throw fail('WEBHOOK_URL_NOT_ALLOWED', {
    details: details.slice(0, MAX_DETAILS),
    ...(fix === undefined ? {} : { fix }),
  });
}

/**
 * Asserts that every address that a change sets is allowed.
 *
 * @throws CONFLICT if the rows have changed since the check, so that an unchecked address would be set
 */
export function assertChecked({ changes }: Comparison, allowed: ReadonlySet<string>): void {
  const unchecked = changes.flatMap(({ kind, key, action, fields }): Detail[] => {
    if (!isAddressed(kind) || action === 'delete') return [];
    const url = fields[addressIn[kind]]?.to;
    return typeof url === 'string' && !allowed.has(url) ? [{ path: pathOf(kind, key), code: 'changed' }] : [];
  });
  if (unchecked.length > 0)
    throw fail('CONFLICT', {
      details: unchecked.slice(0, MAX_DETAILS),
      fix: 'The project has changed meanwhile: plan again.',
    });
}
