import type { ChangesClaims } from '@doorward/decision';
import type { Caller } from '../operations/invoke.ts';
import { parseOperation } from '../operations/operation.ts';
import { requestParts } from '../operations/request-parts.ts';
import { operationTable } from '../client/generated/table.ts';
import { momentOf, type Moment } from '../calls/moment.ts';
import type { Clock } from '../calls/transport.ts';
import { ConnectionError } from '../contracts/errors.ts';
import type { Issuer } from '../tokens/issuer.ts';
import type { KeySets } from '../tokens/key-sets.ts';
import { verifyDocument, type DocumentClaims, type DocumentType } from './document.ts';

interface ReaderSettings {
  readonly caller: Caller;
  readonly issuer: Issuer;
  readonly projectId: string;
  readonly users: 'all' | 'none' | readonly string[];
  readonly keySets: KeySets;
  readonly clock: Clock;
  /** How many seconds a poll waits for a change. */
  readonly pollSeconds: number;
  /** Milliseconds that a poll's response may take on top of `pollSeconds`. */
  readonly marginMs: number;
}

interface Read<C> {
  readonly claims: C;
  readonly bytes: number;
  readonly sentAt: Moment;
}

interface ReadOptions {
  readonly signal: AbortSignal;
  readonly minRevision: string | undefined;
}

const SNAPSHOT_TIMEOUT_MS = 30_000;

/** Fetches and verifies documents. Returns only documents that were signed for this project; throws otherwise. */
export class PolicyReader {
  readonly #settings: ReaderSettings;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
  }

  /** @param assertSize throws if the document is too large */
  snapshot(options: ReadOptions, assertSize: (bytes: number) => void): Promise<Read<DocumentClaims>> {
    const operation = parseOperation('policySnapshot', operationTable.policySnapshot);
    const type = 'doorward-snapshot+jwt';
    return this.#read(operation, {}, { ...options, type, timeoutMs: SNAPSHOT_TIMEOUT_MS, assertSize });
  }

  /**
   * Reads the changes since a version. If `isWaiting` is true, the service responds only after the first change or the
   * poll time.
   */
  async changes(since: string, isWaiting: boolean, options: ReadOptions): Promise<Read<ChangesClaims>> {
    const operation = parseOperation('policySnapshotChanges', operationTable.policySnapshotChanges);
    const { pollSeconds, marginMs } = this.#settings;
    const timeoutSeconds = isWaiting ? pollSeconds : 0;
    const timeoutMs = timeoutSeconds * 1000 + marginMs;
    const type = 'doorward-changes+jwt';
    const read = await this.#read(operation, { since, timeoutSeconds }, { ...options, type, timeoutMs });
    return read as Read<ChangesClaims>;
  }

  async #read(
    operation: ReturnType<typeof parseOperation>,
    input: Readonly<Record<string, unknown>>,
    options: ReadOptions & {
      readonly type: DocumentType;
      readonly timeoutMs: number;
      readonly assertSize?: (bytes: number) => void;
    },
  ): Promise<Read<DocumentClaims>> {
    const { caller, users, keySets, issuer, projectId, clock } = this.#settings;
    const { signal, timeoutMs, minRevision, type } = options;
    const sentAt = momentOf(clock);
    const { text } = await caller.transport.send({
      operation: operation.name,
      method: 'GET',
      ...requestParts(operation, { ...input, users, minRevision }, caller.scope),
      headers: { accept: 'application/jwt, application/json' },
      token: 'own',
      isRepeatable: true,
      ...{ signal, timeoutMs, deadlineMs: timeoutMs, retries: 0, readsBody: true },
    });
    if (text === null) throw new ConnectionError('BAD_ANSWER', 'The answer has no document.');
    options.assertSize?.(text.length);
    const checks = { type, issuer, projectId, keyOf: keySets.key, now: clock.now() };
    return { claims: await verifyDocument(text, checks), bytes: text.length, sentAt };
  }
}
