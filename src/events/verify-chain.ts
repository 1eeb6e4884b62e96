import { entryHash, personalDigest, type ChainEntry } from './audit-chain.ts';

/**
 * Proves an export of the audit log line by line, for each node the chain from its first line on (events §7). The text
 * comes from anywhere, so nothing of it is believed: what a line says is only right if its hashes say so.
 *
 * Hashes alone show a change to somebody who knows one later hash: who can rewrite a whole file can compute all of them
 * anew. Such an anchor is a signed checkpoint, or the last hash, kept elsewhere.
 */
export type FaultKind =
  | 'unreadable'
  | 'changed'
  | 'missing before it'
  | 'out of order'
  | 'repeated'
  | 'replaced'
  | 'bad checkpoint'
  | 'cut off after it';

export interface Fault {
  /** Of the file, counted from 1. */
  readonly line: number;
  readonly sequence: number | null;
  readonly kind: FaultKind;
  readonly detail: string;
}

export interface ChainReport {
  /** Id of the tenant node. */
  readonly node: string;
  readonly first: number;
  readonly last: number;
  readonly lastHash: string;
  readonly entries: number;
  /** Entries without salt: what was personal in them is gone, and not proven. */
  readonly erased: number;
  /** The newest sequence that a checkpoint with a good signature covers; null without one. */
  readonly signedUpTo: number | null;
  /** Whether an entry shows that none is missing at the end: that of the export itself, or the one expected. */
  readonly endProven: boolean;
}

export interface Verdict {
  /** The first bad line, or null. */
  readonly fault: Fault | null;
  readonly chains: readonly ChainReport[];
}

/** What a checkpoint is signed for, or null when the signature is not good. */
export type ReadCheckpoint = (jws: string) => Promise<Readonly<Record<string, unknown>> | null>;

export interface Checking {
  /** An export of chosen entries: each line is proven in itself, gaps are none. */
  readonly filtered: boolean;
  /** Absent: signatures are not looked at. */
  readonly readCheckpoint?: ReadCheckpoint | undefined;
  /** How the file ends: with its own entry, as a whole export does; with this hash; or nobody can say. */
  readonly end: 'own entry' | 'unknown' | { readonly hash: string };
}

interface Line extends ChainEntry {
  readonly previousHash: string;
  readonly hash: string;
  readonly personalDigest: string;
  readonly salt: string | null;
}

interface Chain {
  readonly first: number;
  /** Where the hash of a number stands, for checkpoints. */
  readonly hashes: Map<number, string>;
  last: Line;
  entries: number;
  erased: number;
  signedUpTo: number | null;
}

export async function verifyChains(
  lines: AsyncIterable<string> | Iterable<string>,
  { filtered, readCheckpoint, end }: Checking,
): Promise<Verdict> {
  const chains = new Map<string, Chain>();
  let fault: Fault | null = null;
  /** A gap may be a line that stands elsewhere: those after it are asked. */
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
      const detail = `entry ${line.sequence}, which belongs before it, stands in line ${number}`;
      fault = { ...fault, kind: 'out of order', detail };
      break;
    }
    const at = { line: number, sequence: line?.sequence ?? null };
    if (!line || !node) {
      fault = { ...at, kind: 'unreadable', detail: 'it is no entry as an export writes it' };
      continue;
    }
    lastLine = line;
    const chain = chains.get(node);
    const wrong = faultOf(line) ?? (chain && placeFault(chain.last, line, filtered));
    if (wrong) {
      fault = { ...at, ...wrong };
      if (wrong.kind === 'missing before it') {
        gap = { node, from: (chain?.last.sequence ?? 0) + 1, to: line.sequence - 1 };
      }
      continue;
    }
    const current = append(chains, node, chain, line);
    if (!readCheckpoint) continue;
    current.hashes.set(line.sequence, line.hash);
    if (line.operation === 'auditCheckpoint') {
      const covered = await checkpointOf(line, current, readCheckpoint);
      if (typeof covered === 'string') fault = { ...at, kind: 'bad checkpoint', detail: covered };
      else current.signedUpTo = covered;
      // The next one is of what comes now.
      current.hashes.clear();
      current.hashes.set(line.sequence, line.hash);
    }
  }
  const proven = (chain: Chain): boolean => chain.last === lastLine && end !== 'unknown';
  return {
    fault: fault ?? endFault(chains, lastLine, number, end),
    chains: [...chains].map(([node, chain]) => reportOf(node, chain, proven(chain))),
  };
}

/** Only the very text of an export: what two readers could read differently (a member twice, say) is none. */
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

/** The last id of a scope is that of its node. */
const nodeOf = ({ scope }: Line): string => (scope as { id: string }).id.split(':').at(-1) ?? '';

type Wrong = Pick<Fault, 'kind' | 'detail'>;

/** What is wrong with a line in itself. */
function faultOf(line: Line): Wrong | null {
  const { previousHash, hash, personalDigest: digest, salt, ...entry } = line;
  if (entryHash(entry, previousHash, digest) !== hash) {
    return { kind: 'changed', detail: 'its hash is not that of what it says' };
  }
  if (salt !== null) {
    if (personalDigest(entry, salt) === digest) return null;
    return { kind: 'changed', detail: 'its personal part is not what its digest was made of' };
  }
  // Erased: nothing proves what would stand here, so nothing may.
  const personal = [
    entry.actor.name,
    entry.ipAddress,
    entry.userAgent,
    entry.target?.type === 'User' ? entry.changes : null,
  ];
  if (personal.every((value) => value === null)) return null;
  return { kind: 'changed', detail: 'it has no salt, and yet a personal part' };
}

/** What is wrong between a line and the one of the same node before it. */
function placeFault(before: Line, { sequence, previousHash }: Line, filtered: boolean): Wrong | null {
  if (sequence === before.sequence) return { kind: 'repeated', detail: 'its number was there before' };
  if (sequence < before.sequence) {
    return { kind: 'out of order', detail: `it stands behind entry ${before.sequence}` };
  }
  if (sequence > before.sequence + 1) {
    if (filtered) return null;
    const missing = sequence - before.sequence - 1;
    return { kind: 'missing before it', detail: `${missing} after entry ${before.sequence}` };
  }
  if (previousHash === before.hash) return null;
  return { kind: 'replaced', detail: 'it does not follow the line before: one of the two is another entry' };
}

function append(chains: Map<string, Chain>, node: string, known: Chain | undefined, line: Line): Chain {
  const chain = known ?? {
    first: line.sequence,
    // A log that was cut begins behind an entry that a checkpoint in it has signed.
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
 * The number that a checkpoint proves (or what did so before, when that entry is not in the file), or what is wrong
 * with it.
 */
async function checkpointOf(line: Line, chain: Chain, read: ReadCheckpoint): Promise<number | null | string> {
  const { sequence, hash, jws } = line.metadata as Readonly<Record<string, unknown>>;
  const signed = typeof jws === 'string' ? await read(jws) : null;
  if (!signed) return 'its signature is not of a known key';
  const scope = line.scope as { readonly tenant: unknown; readonly id: unknown };
  const said = isObject(signed['scope']) ? signed['scope'] : {};
  const isIts =
    signed['type'] === 'auditCheckpoint' && said['tenant'] === scope.tenant && said['id'] === scope.id;
  if (!isIts || signed['sequence'] !== sequence || signed['hash'] !== hash) {
    return 'its signature is of something else';
  }
  const known = chain.hashes.get(sequence as number);
  if (known === undefined) return chain.signedUpTo;
  return known === hash ? (sequence as number) : `entry ${sequence as number} is not the one that was signed`;
}

/**
 * Whether something is missing at the end. The own entry of an export stands for its node, and for the projects of an
 * organization that was exported with them; a line of another node would make a cut file look whole.
 */
function endFault(
  chains: ReadonlyMap<string, Chain>,
  last: Line | null,
  line: number,
  end: Checking['end'],
): Fault | null {
  if (!last) return { line: 1, sequence: null, kind: 'unreadable', detail: 'the file has no entries' };
  if (end === 'unknown') return null;
  const cut = (detail: string): Fault => ({
    line,
    sequence: last.sequence,
    kind: 'cut off after it',
    detail,
  });
  if (end !== 'own entry') return last.hash === end.hash ? null : cut('its hash is not the expected one');
  if (last.operation !== 'exportAuditLogs' || last.outcome !== 'success') {
    return cut('a whole export ends with its own entry');
  }
  const { includeProjects } = last.metadata as Readonly<Record<string, unknown>>;
  const { id } = last.scope as { readonly id: string };
  const isCovered = (chain: Chain): boolean =>
    chain.last === last ||
    (includeProjects === true && (chain.last.scope as { readonly id: string }).id.startsWith(`${id}:`));
  return [...chains.values()].every(isCovered) ? null : cut('it is the entry of an export of something else');
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
