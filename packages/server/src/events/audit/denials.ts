import { DoorwardError } from '../../errors.ts';
import type { Invoke } from '../../kernel/invoke.ts';
import type { MutationNotes, MutationOrigin, Stages } from '../../kernel/stages.ts';
import type { NamedOperation } from '../../kernel/operation.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Recorder } from '../record.ts';

interface Denials {
  /** Wraps `invoke` and records denials in scopes that the caller belongs to. */
  watch(invoke: Invoke): Invoke;
  /** Writes the counts of the windows that have ended, or with `all` of every window. Never rejects. */
  flush(all?: boolean): Promise<void>;
}

interface Denial {
  readonly op: Pick<NamedOperation, 'name' | 'permissionNoun'>;
  readonly by: MutationOrigin;
  readonly targetId: string | undefined;
  readonly error: DoorwardError;
}
interface DenialWindow {
  readonly denial: Denial;
  readonly endsAt: number;
  /** How many equal denials followed the first one. */
  repeats: number;
}

const WINDOW_MS = 60_000;
const MAX_COUNTED = 10_000;
/**
 * Whether a window has not ended. If it ends more than a minute from now, it was opened before the clock was set back,
 * and counts as ended.
 */
const isOpen = ({ endsAt }: Pick<DenialWindow, 'endsAt'>, now: number): boolean =>
  endsAt > now && endsAt <= now + WINDOW_MS;

/**
 * Creates the audit of denied mutations by callers who belong to the scope (events §7). The first denial is written
 * before its response is sent. Equal denials in the next minute are counted and written as one entry at its end, so
 * that repeated calls don't fill the log; the count is written last because entries never change. A killed process
 * loses only the counts of its last minute.
 */
export function createDenials(options: {
  readonly transaction: Stages['transaction'];
  readonly record: Recorder;
  readonly clock: Clock;
  readonly log: (error: unknown, message: string) => void;
}): Denials {
  const { transaction, record, clock, log } = options;
  const windows = new Map<string, DenialWindow>();

  async function write({ op, by, targetId, error }: Denial, count: number): Promise<void> {
    const { code, extras } = error;
    const target = op.permissionNoun && targetId ? { type: op.permissionNoun, id: targetId } : null;
    const reason = extras.reason ? { reason: extras.reason } : {};
    const recording = { outcome: 'denied', code, ...reason, target, metadata: { count } } as const;
    const notes: MutationNotes = { recordings: [recording], topics: new Set(), afterCommit: [], cookies: {} };
    try {
      await transaction((tx) => record(tx, [{ op: { name: op.name, permissionChange: 'none' }, by, notes }]));
    } catch (failure) {
      log(failure, `a denial of ${op.name} could not be written to the audit log`);
    }
  }

  async function countOrWrite(denial: Denial): Promise<void> {
    const { op, by, targetId, error } = denial;
    const key = [by.scope?.nodeId, by.principal?.credentialId, op.name, targetId, error.code].join(' ');
    const now = clock.now().getTime();
    const window = windows.get(key);
    if (window && isOpen(window, now)) return void window.repeats++;
    windows.delete(key);
    if (window && window.repeats > 0) await write(window.denial, window.repeats);
    // Beyond the limit no new window is opened, so every further denial is written.
    if (windows.size < MAX_COUNTED) windows.set(key, { denial, endsAt: now + WINDOW_MS, repeats: 0 });
    await write(denial, 1);
  }

  return {
    watch: (invoke) => (op, raw, call, seen) => {
      const isDryRun = op.dryRun && (raw as Record<string, unknown>)['dryRun'] === true;
      if (op.kind === 'query' || !op.scoped || isDryRun) return invoke(op, raw, call, seen);
      // `invoke` fills in `scope` once it knows that the caller belongs to the scope. For other callers it stays unset.
      const noted = seen ?? {};
      const answer = (async () => invoke(op, raw, call, noted))();
      return answer.catch(async (error: unknown) => {
        const { scope } = noted;
        const { authentication } = call;
        if (scope && authentication.ok && error instanceof DoorwardError && error.status === 403) {
          const { principal } = authentication;
          const targetId = op.pathParameter && (raw as Record<string, string>)[op.pathParameter];
          await countOrWrite({
            op,
            by: { scope, principal, call },
            targetId: targetId?.toLowerCase(),
            error,
          });
        }
        throw error;
      });
    },

    async flush(all = false) {
      const now = clock.now().getTime();
      for (const [key, { denial, endsAt, repeats }] of windows) {
        if (isOpen({ endsAt }, now) && !all) continue;
        windows.delete(key);
        if (repeats > 0) await write(denial, repeats);
      }
    },
  };
}
