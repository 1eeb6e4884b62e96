import { hash, randomBytes } from 'node:crypto';
import { canonicalJson } from '../../kernel/output/canonical-json.ts';

/**
 * An entry of an audit log. The log of a tenant node is a hash chain: every entry contains the hash of the previous
 * one, which reveals changed, missing and reordered entries (events §7). Personal values enter the hash only as a
 * salted digest, so that the chain still verifies after an erasure removes the values and the salt.
 */
export interface ChainEntry {
  readonly id: string;
  readonly sequence: number;
  readonly occurredAt: string;
  readonly scope: unknown;
  readonly operation: string;
  readonly event: string | null;
  readonly outcome: string;
  readonly code: string | null;
  readonly reason: string | null;
  readonly actor: { readonly name: string | null; readonly [member: string]: unknown };
  readonly target: { readonly type: string; readonly id: string } | null;
  readonly changes: unknown;
  readonly metadata: unknown;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly requestId: string;
}

export interface Sealing {
  readonly previousHash: string;
  readonly hash: string;
  readonly personalDigest: string;
  readonly salt: string;
}

const sha256 = (text: string): string => hash('sha256', text);

/** SHA-256 over salt and `[actor.name, ipAddress, userAgent, changes of a User]`. */
export function personalDigest(entry: ChainEntry, salt: string): string {
  const changes = entry.target?.type === 'User' ? entry.changes : null;
  return sha256(salt + canonicalJson([entry.actor.name, entry.ipAddress, entry.userAgent, changes]));
}

/**
 * The members that the hash covers directly. The digest covers the others: `actor.name`, `ipAddress`, `userAgent`, and
 * `changes` of a User.
 */
type Covered = Readonly<
  Record<Exclude<keyof ChainEntry, 'ipAddress' | 'userAgent' | 'changes'> | keyof Sealed, unknown>
> & { readonly changes?: unknown };
type Sealed = Pick<Sealing, 'previousHash' | 'personalDigest'>;

/** SHA-256 over the previous hash and the entry, without its hash, its salt and the members that the digest covers. */
export function entryHash(entry: ChainEntry, previousHash: string, digest: string): string {
  // GraphQL returns null if there is no impersonator.
  const { name: _, impersonator, ...self } = entry.actor;
  const actor = impersonator ? { ...self, impersonator } : self;
  // Written in canonical order, so that `canonicalJson` has nothing to sort.
  const covered: Covered = {
    actor,
    ...(entry.target?.type === 'User' ? {} : { changes: entry.changes }),
    code: entry.code,
    event: entry.event,
    id: entry.id,
    metadata: entry.metadata,
    occurredAt: entry.occurredAt,
    operation: entry.operation,
    outcome: entry.outcome,
    personalDigest: digest,
    previousHash,
    reason: entry.reason,
    requestId: entry.requestId,
    scope: entry.scope,
    sequence: entry.sequence,
    target: entry.target,
  };
  return sha256(previousHash + canonicalJson(covered));
}

/** Seals a new entry of a chain: computes its salt, personal digest and hash. */
export function sealEntry(entry: ChainEntry, previousHash: string): Sealing {
  const salt = newSalt();
  const digest = personalDigest(entry, salt);
  return { previousHash, hash: entryHash(entry, previousHash, digest), personalDigest: digest, salt };
}

const SALT_BYTES = 16;
const salts = { bytes: Buffer.alloc(0), used: 0 };

/** Returns a new salt. It reads random bytes for 256 salts in one call, which takes little longer than for one. */
function newSalt(): string {
  if (salts.used === salts.bytes.length)
    Object.assign(salts, { bytes: randomBytes(256 * SALT_BYTES), used: 0 });
  return salts.bytes.toString('hex', salts.used, (salts.used += SALT_BYTES));
}
