import { DoorwardError } from '../errors.ts';
import type { Invoke } from '../kernel/invoke.ts';
import type { MutationNotes, Recorded, Stages } from '../kernel/stages.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import type { Clock } from '../kernel/ports.ts';
import type { Recorder } from './record.ts';

/**
 * What insiders were refused is in the audit log too (events §7). The first refusal is written before it is answered.
 * Equal ones of the next minute are counted and become one entry at its end, so that whoever hammers at a closed door
 * does not fill the log: entries are never changed, so a count can only be written when it is known. A process that is
 * killed loses the count of its last minute, and nothing else.
 */
export interface Denials {
  /** The same calls, with what is refused in a scope that the caller belongs to written down. */
  watch(invoke: Invoke): Invoke;
  /** Writes the counts of the minutes that are over, or of all; never rejects. */
  flush(all?: boolean): Promise<void>;
}

interface Denial {
  readonly op: Pick<NamedOperation, 'name' | 'permissionNoun'>;
  readonly by: Recorded;
  readonly targetId: string | undefined;
  readonly error: DoorwardError;
}
interface Counted {
  readonly denial: Denial;
  readonly until: number;
  more: number;
}

const WINDOW_MS = 60_000;
const MOST = 10_000;
/** One that closes later than any does was opened before the clock was set back. */
const isOpen = ({ until }: Pick<Counted, 'until'>, now: number): boolean =>
  until > now && until <= now + WINDOW_MS;

export function createDenials(options: {
  readonly transaction: Stages['transaction'];
  readonly record: Recorder;
  readonly clock: Clock;
  readonly log: (error: unknown, message: string) => void;
}): Denials {
  const { transaction, record, clock, log } = options;
  const counted = new Map<string, Counted>();

  async function write({ op, by, targetId, error }: Denial, count: number): Promise<void> {
    const { code, extras } = error;
    const target = op.permissionNoun && targetId ? { type: op.permissionNoun, id: targetId } : null;
    const reason = extras.reason ? { reason: extras.reason } : {};
    const recording = { outcome: 'denied', code, ...reason, target, metadata: { count } } as const;
    const notes: MutationNotes = { recordings: [recording], topics: new Set(), afterCommit: [] };
    try {
      await transaction((tx) => record(tx, [{ op: { name: op.name, keepsRights: true }, by, notes }]));
    } catch (failure) {
      log(failure, `a refusal of ${op.name} could not be written down`);
    }
  }

  async function note(denial: Denial): Promise<void> {
    const { op, by, targetId, error } = denial;
    const key = [by.scope?.nodeId, by.principal?.credentialId, op.name, targetId, error.code].join(' ');
    const now = clock.now().getTime();
    const known = counted.get(key);
    if (known && isOpen(known, now)) return void known.more++;
    counted.delete(key);
    if (known && known.more > 0) await write(known.denial, known.more);
    // What finds no room is written each time.
    if (counted.size < MOST) counted.set(key, { denial, until: now + WINDOW_MS, more: 0 });
    await write(denial, 1);
  }

  return {
    watch: (invoke) => (op, raw, call, seen) => {
      const asking = op.dryRun && (raw as Record<string, unknown>)['dryRun'] === true;
      if (op.kind === 'query' || !op.scoped || asking) return invoke(op, raw, call, seen);
      // Filled once the caller is known to belong there: to a stranger's call the scope is as good as unknown.
      const found = seen ?? {};
      const answer = (async () => invoke(op, raw, call, found))();
      return answer.catch(async (error: unknown) => {
        const { scope } = found;
        const { authentication } = call;
        if (scope && authentication.ok && error instanceof DoorwardError && error.status === 403) {
          const { principal } = authentication;
          const targetId = op.pathParameter && (raw as Record<string, string>)[op.pathParameter];
          await note({ op, by: { scope, principal, call }, targetId: targetId?.toLowerCase(), error });
        }
        throw error;
      });
    },

    async flush(all = false) {
      const now = clock.now().getTime();
      for (const [key, { denial, until, more }] of counted) {
        if (isOpen({ until }, now) && !all) continue;
        counted.delete(key);
        if (more > 0) await write(denial, more);
      }
    },
  };
}
