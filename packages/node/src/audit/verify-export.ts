import type { ReadCheckpoint } from './checkpoint-reader.ts';
import { checkpointOf, contentFaultOf, type AuditEntry } from './entry-proof.ts';

/*
 * Verifies an export of the audit log line by line: for each tenant node, the chain of entries from the node's first
 * line on (events §7). The file is untrusted, so every line is checked against its hashes.
 *
 * Hashes alone do not detect an attacker who rewrites the whole file and recomputes all of them. That needs an anchor:
 * a signed checkpoint, or the last hash stored elsewhere.
 */

/** The kind of a fault in a line. */
export type ExportFaultKind =
  | 'unreadable'
  | 'changed'
  | 'missing before it'
  | 'out of order'
  | 'repeated'
  | 'replaced'
  | 'bad checkpoint'
  | 'cut off after it';

export interface ExportFault {
  /** Line number in the file, from 1. */
  readonly line: number;
  readonly sequence: number | null;
  readonly kind: ExportFaultKind;
  readonly detail: string;
}

export interface ChainReport {
  /** Id of the tenant node. */
  readonly node: string;
  readonly first: number;
  readonly last: number;
  readonly lastHash: string;
  readonly entries: number;
  /** Entries without salt: their personal data was erased and cannot be verified. */
  readonly erased: number;
  /** The newest sequence that a checkpoint with a valid signature covers; null if there is none. */
  readonly signedUpTo: number | null;
  /** Whether the last line proves that this chain's end is not cut off. Meaningful only if there is no fault. */
  readonly endProven: boolean;
}

export interface ExportProof {
  /** The first invalid line, or null. */
  readonly fault: ExportFault | null;
  readonly chains: readonly ChainReport[];
}

export interface VerifyExportOptions {
  /** True if the export is filtered, so that gaps between lines are allowed. */
  readonly filtered: boolean;
  /** If absent, signatures are not verified. */
  readonly readCheckpoint?: ReadCheckpoint | undefined;
  /**
   * How the file must end: with the entry of the export itself (`own entry`, for a complete export) or with an entry
   * that has this hash. `unknown`: the end is not checked.
   */
  readonly end: 'own entry' | 'unknown' | { readonly hash: string };
}

type Line = AuditEntry;

interface Chain {
  readonly first: number;
  /** Hashes by sequence since the last checkpoint; the next checkpoint is verified with them. */
  readonly hashes: Map<number, string>;
  last: Line;
  entries: number;
  erased: number;
  signedUpTo: number | null;
}

/** Verifies the lines of an export and reports the first fault and each chain. */
export async function verifyExport(
  lines: AsyncIterable<string> | Iterable<string>,
  { filtered, readCheckpoint, end }: VerifyExportOptions,
): Promise<ExportProof> {
  const chains = new Map<string, Chain>();
  let fault: ExportFault | null = null;
  /** Set if entries are missing. They may occur later in the file, so the following lines are searched for them. */
  let gap: { readonly node: string; readonly from: number; readonly to: number } | null = null;
  let lastLine: Line | null = null;
  let number = 0;
  for await (const text of lines) {
    number++;
    const line = readLine(text);
    const node = line && nodeOf(line);
    if (fault) {
      if (!gap) break;
      if (node !== gap.node || line === null || line.sequence < gap.from || line.sequence > gap.to) continue;
      const detail = `entry ${line.sequence}, which belongs before it, is in line ${number}`;
      fault = { ...fault, kind: 'out of order', detail };
      break;
    }
    const position = { line: number, sequence: line?.sequence ?? null };
    if (!line || !node) {
      fault = { ...position, kind: 'unreadable', detail: 'it is not an entry in the form of an export' };
      continue;
    }
    lastLine = line;
    const chain = chains.get(node);
    const lineFault = (await contentFault(line)) ?? (chain && sequenceFault(chain.last, line, filtered));
    if (lineFault) {
      fault = { ...position, ...lineFault };
      if (lineFault.kind === 'missing before it') {
        gap = { node, from: (chain?.last.sequence ?? 0) + 1, to: line.sequence - 1 };
      }
      continue;
    }
    const current = append(chains, node, chain, line);
    if (!readCheckpoint) continue;
    current.hashes.set(line.sequence, line.hash);
    if (line.operation === 'auditCheckpoint') {
      const covered = await verifyCheckpoint(line, current, readCheckpoint);
      if (typeof covered === 'string') fault = { ...position, kind: 'bad checkpoint', detail: covered };
      else current.signedUpTo = covered;
      // The next checkpoint signs this entry or a later one, so earlier hashes are no longer needed.
      current.hashes.clear();
      current.hashes.set(line.sequence, line.hash);
    }
  }
  const isEndProven = (chain: Chain): boolean => chain.last === lastLine && end !== 'unknown';
  return {
    fault: fault ?? endFault(chains, lastLine, number, end),
    chains: [...chains].map(([node, chain]) => reportOf(node, chain, isEndProven(chain))),
  };
}

/**
 * Parses a line. Accepts only the exact text of an export, because other JSON (with a duplicate member, for example) is
 * ambiguous.
 */
function readLine(text: string): Line | null {
  try {
    const value: unknown = JSON.parse(text);
    return isLine(value) && JSON.stringify(value) === text ? value : null;
  } catch {
    return null;
  }
}

function isLine(value: unknown): value is Line {
  if (!isObject(value)) return false;
  const { sequence, scope, actor, target, metadata } = value;
  return (
    Number.isSafeInteger(sequence) &&
    (sequence as number) > 0 &&
    isObject(scope) &&
    typeof scope['id'] === 'string' &&
    isObject(actor) &&
    (target === null || isObject(target)) &&
    isObject(metadata) &&
    ['id', 'operation', 'previousHash', 'hash', 'personalDigest'].every(
      (name) => typeof value[name] === 'string',
    ) &&
    (value['salt'] === null || typeof value['salt'] === 'string')
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The id of the tenant node is the last part of the scope id. */
const nodeOf = ({ scope }: Line): string => (scope as { id: string }).id.split(':').at(-1) ?? '';

type EntryFault = Pick<ExportFault, 'kind' | 'detail'>;

const contentDetails = {
  changed: 'its hash does not match its content',
  personal: 'its personal part does not match its digest',
  unsalted: 'it has a personal part but no salt',
} as const;

/** Checks the hashes of one line. */
async function contentFault(line: Line): Promise<EntryFault | null> {
  const fault = await contentFaultOf(line);
  return fault && { kind: 'changed', detail: contentDetails[fault] };
}

/** Compares a line with the previous line of the same node. */
function sequenceFault(before: Line, { sequence, previousHash }: Line, filtered: boolean): EntryFault | null {
  if (sequence === before.sequence) return { kind: 'repeated', detail: 'its number occurred before' };
  if (sequence < before.sequence) {
    return { kind: 'out of order', detail: `it is behind entry ${before.sequence}` };
  }
  if (sequence > before.sequence + 1) {
    if (filtered) return null;
    const missing = sequence - before.sequence - 1;
    return { kind: 'missing before it', detail: `${missing} after entry ${before.sequence}` };
  }
  if (previousHash === before.hash) return null;
  return { kind: 'replaced', detail: 'it does not follow the previous line: one of the two was replaced' };
}

function append(chains: Map<string, Chain>, node: string, current: Chain | undefined, line: Line): Chain {
  const chain = current ?? {
    first: line.sequence,
    // After a retention cut, the log starts after an entry that is no longer there, and a later checkpoint may cover
    // that entry.
    hashes: new Map([[line.sequence - 1, line.previousHash]]),
    last: line,
    entries: 0,
    erased: 0,
    signedUpTo: null,
  };
  chain.last = line;
  chain.entries++;
  if (line.salt === null) chain.erased++;
  chains.set(node, chain);
  return chain;
}

/**
 * Verifies a checkpoint. Returns the sequence that it proves; the sequence proven before, if the signed entry is not in
 * the file; or a description of the fault.
 */
async function verifyCheckpoint(
  line: Line,
  chain: Chain,
  read: ReadCheckpoint,
): Promise<number | null | string> {
  const covered = await checkpointOf(line, chain.hashes, read);
  if (covered === 'badSignature') return 'its signature is not by a known key';
  if (covered === 'otherSigned') return 'its signature covers something else';
  if (covered === 'otherEntry') return `entry ${String(line.metadata['sequence'])} is not the signed one`;
  return covered ?? chain.signedUpTo;
}

/** The operations that export a log, of a tenant or of the whole installation. */
const exportOperations: readonly string[] = ['exportAuditLogs', 'exportInstallationAuditLogs'];

/**
 * Checks that no entry is missing at the end. The entry of the export itself proves that only for its own node: if the
 * export includes projects, their chains may be in the file, but their ends stay unproven. The entry of another export
 * must not make a cut file look complete.
 */
function endFault(
  chains: ReadonlyMap<string, Chain>,
  last: Line | null,
  line: number,
  end: VerifyExportOptions['end'],
): ExportFault | null {
  if (!last) return { line: 1, sequence: null, kind: 'unreadable', detail: 'the file has no entries' };
  if (end === 'unknown') return null;
  const cutOff = (detail: string): ExportFault => ({
    line,
    sequence: last.sequence,
    kind: 'cut off after it',
    detail,
  });
  if (end !== 'own entry') return last.hash === end.hash ? null : cutOff('its hash is not the expected one');
  if (!exportOperations.includes(last.operation) || last.outcome !== 'success') {
    return cutOff('a complete export ends with its own entry');
  }
  const { includeProjects } = last.metadata as Readonly<Record<string, unknown>>;
  const { id } = last.scope as { readonly id: string };
  const isCovered = (chain: Chain): boolean =>
    chain.last === last ||
    (includeProjects === true && (chain.last.scope as { readonly id: string }).id.startsWith(`${id}:`));
  return [...chains.values()].every(isCovered)
    ? null
    : cutOff('it is the entry of an export of something else');
}

const reportOf = (
  node: string,
  { first, last, entries, erased, signedUpTo }: Chain,
  endProven: boolean,
): ChainReport => ({
  node,
  first,
  last: last.sequence,
  lastHash: last.hash,
  entries,
  erased,
  signedUpTo,
  endProven,
});
