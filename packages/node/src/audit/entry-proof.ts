/* Checks on a single audit entry (events §7), which the verification of lists and of exported files share. */

import type { components } from '../client/generated/openapi.ts';
import { canonicalJson } from './canonical-json.ts';
import type { ReadCheckpoint } from './checkpoint-reader.ts';

/** An audit entry in the form that both lists and exports contain. */
export type AuditEntry = components['schemas']['AuditLogEntry'];

/**
 * `changed`: the hash does not match the content. `personal`: the digest does not match the personal part. `unsalted`:
 * the salt was erased, but a personal part is still there.
 */
type ContentFault = 'changed' | 'personal' | 'unsalted';

/** Compares the hashes of an entry with its content; returns null if they match. */
export async function contentFaultOf(entry: AuditEntry): Promise<ContentFault | null> {
  const { previousHash, hash, personalDigest, salt, ipAddress, userAgent, changes, actor, ...plain } = entry;
  // GraphQL returns null if there is no impersonator.
  const { name, impersonator, ...self } = actor as typeof actor & { readonly impersonator?: unknown };
  const caller = impersonator ? { ...self, impersonator } : self;
  const isPerson = entry.target?.type === 'User';
  const covered = { ...plain, ...(isPerson ? {} : { changes }), actor: caller, personalDigest, previousHash };
  if ((await sha256(previousHash + canonicalJson(covered))) !== hash) return 'changed';
  const personal = [name, ipAddress, userAgent, isPerson ? changes : null];
  if (salt === null) return personal.every((value) => value === null) ? null : 'unsalted';
  return (await sha256(salt + canonicalJson(personal))) === personalDigest ? null : 'personal';
}

/**
 * `badSignature`: the signature is invalid. `otherSigned`: it is valid, but for another log, sequence or hash than the
 * checkpoint states. `otherEntry`: the entry with the signed sequence has another hash.
 */
type CheckpointFault = 'badSignature' | 'otherSigned' | 'otherEntry';

/**
 * Verifies a checkpoint. Returns the sequence of the entry that it proves, null if that entry is not among `hashes`, or
 * the fault.
 */
export async function checkpointOf(
  { metadata, scope }: AuditEntry,
  hashes: ReadonlyMap<number, string>,
  read: ReadCheckpoint,
): Promise<number | null | CheckpointFault> {
  const { sequence, hash, jws } = metadata;
  const claims = typeof jws === 'string' ? await read(jws) : null;
  if (!claims) return 'badSignature';
  const signed = (claims['scope'] ?? {}) as Readonly<Record<string, unknown>>;
  const isOfThisLog =
    claims['type'] === 'auditCheckpoint' &&
    signed['tenant'] === scope.tenant &&
    signed['id'] === scope.id &&
    claims['sequence'] === sequence &&
    claims['hash'] === hash;
  if (!isOfThisLog) return 'otherSigned';
  const actual = hashes.get(sequence as number);
  if (actual === undefined) return null;
  return actual === hash ? (sequence as number) : 'otherEntry';
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
