/*
 * Verifies audit entries that were read as a list (events §7): the hash of each entry, its link to the entry before it,
 * and the signed checkpoints in the list.
 */

import type { ReadCheckpoint } from './checkpoint-reader.ts';
import { checkpointOf, contentFaultOf, type AuditEntry } from './entry-proof.ts';

export type EntryFaultKind =
  'changed' | 'personal' | 'missing' | 'repeated' | 'replaced' | 'badSignature' | 'otherSigned';

export interface EntryFault {
  readonly kind: EntryFaultKind;
  readonly entry: AuditEntry;
}

export interface EntriesProof {
  /** The fault with the lowest sequence, or null. */
  readonly fault: EntryFault | null;
  readonly count: number;
  readonly first: number;
  readonly last: number;
  /** Entries whose personal part was erased and so cannot be verified. */
  readonly erased: number;
  /** The highest sequence that a checkpoint in the list proves; null if there is none. */
  readonly signedUpTo: number | null;
}

const START = '0'.repeat(64);

/** Sorts entries by sequence and verifies them up to the first fault. `isFiltered`: gaps between them are allowed. */
export async function verifyEntries(
  entries: readonly AuditEntry[],
  { isFiltered, readCheckpoint }: { readonly isFiltered: boolean; readonly readCheckpoint: ReadCheckpoint },
): Promise<EntriesProof> {
  const sorted = [...entries].sort((a, b) => a.sequence - b.sequence);
  const proof = {
    count: sorted.length,
    first: sorted[0]?.sequence ?? 0,
    last: sorted.at(-1)?.sequence ?? 0,
    erased: sorted.filter(({ salt }) => salt === null).length,
  };
  const hashes = new Map<number, string>();
  let signedUpTo: number | null = null;
  let before: AuditEntry | null = null;
  for (const entry of sorted) {
    if (!before) hashes.set(entry.sequence - 1, entry.previousHash);
    const content = await contentFaultOf(entry);
    const kind = content === 'unsalted' ? 'personal' : (content ?? orderFault(before, entry, isFiltered));
    if (kind) return { ...proof, fault: { kind, entry }, signedUpTo };
    hashes.set(entry.sequence, entry.hash);
    if (entry.operation === 'auditCheckpoint') {
      const covered = await checkpointOf(entry, hashes, readCheckpoint);
      if (typeof covered === 'string') {
        const fault = { kind: covered === 'badSignature' ? covered : 'otherSigned', entry } as const;
        return { ...proof, fault, signedUpTo };
      }
      signedUpTo = covered ?? signedUpTo;
    }
    before = entry;
  }
  return { ...proof, fault: null, signedUpTo };
}

function orderFault(
  before: AuditEntry | null,
  entry: AuditEntry,
  isFiltered: boolean,
): EntryFaultKind | null {
  if (entry.sequence === 1 && entry.previousHash !== START) return 'replaced';
  if (!before) return null;
  if (entry.sequence === before.sequence) return 'repeated';
  if (entry.sequence > before.sequence + 1) return isFiltered ? null : 'missing';
  return entry.previousHash === before.hash ? null : 'replaced';
}
