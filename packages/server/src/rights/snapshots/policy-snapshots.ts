import { fail } from '../../errors.ts';
import type { BuiltIns } from '../../access/built-in.ts';
import type { PolicySnapshots, Poll, SignedSnapshot } from '../../access/policy-snapshots.ts';
import type { Config } from '../../config/config.ts';
import type { Keyring } from '../../crypto/keys/keyring.ts';
import type { Changes } from '../../db/cache/changes.ts';
import type { Revisions } from '../../db/cache/revisions.ts';
import type { Database } from '../../db/connection/open.ts';
import type { Clock } from '../../kernel/ports.ts';
import { signChanges, signSnapshot } from './documents.ts';
import type { ProjectWatch } from './project-watch.ts';
import { createSharedResults } from './shared-runs.ts';
import { snapshotScope } from './rows/snapshot-scope.ts';
import { createWaitingPolls } from './waiting-polls.ts';
import { createWatches } from './watches.ts';

interface Options {
  readonly database: Database;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly keyring: Pick<Keyring, 'signDocument'>;
  readonly revisions: Pick<Revisions, 'seal'>;
  readonly config: Config;
}

/**
 * The interval at which a waiting poll checks for lost rights and missed changes, so that these end the poll within a
 * second (packages §8.1).
 */
const ROUND_MS = 400;
/** Polls with the same version may share a signed response that is at most this old. */
const SHARED_MS = 500;
const MAX_OF_CREDENTIAL = 200;
const MAX_OF_OWNER = 1000;
const SHARE_OF_CONNECTIONS = 0.5;

export function createPolicySnapshots(builtIns: Pick<BuiltIns, 'nouns'>, options: Options): PolicySnapshots {
  const nouns = [...builtIns.nouns].sort();
  const tokenMs = options.config.tokens.accessTokenMinutes * 60_000;
  const watches = createWatches({ ...options, nouns, tokenMs });
  const snapshots = createSharedResults<SignedSnapshot>(0);
  const answers = createSharedResults<Buffer>(SHARED_MS);
  const waiting = createWaitingPolls({
    credential: MAX_OF_CREDENTIAL,
    owner: MAX_OF_OWNER,
    process: Math.max(1, Math.floor(options.config.http.maxConnections * SHARE_OF_CONNECTIONS)),
  });

  /**
   * Waits until the content of the watch has another version, or until the time `until`. Ends early when the client
   * disconnects or the service stops.
   */
  async function waitForChange(watch: ProjectWatch, poll: Poll, until: number): Promise<void> {
    let isGone = false;
    let end = (): void => undefined;
    const removeListener = poll.onGone(() => {
      isGone = true;
      end();
    });
    try {
      for (;;) {
        const left = until - performance.now();
        if (isGone) throw fail('UNAVAILABLE');
        if (left <= 0 || watch.version() !== poll.since || watches.isStopped()) return;
        const waiting = watch.untilChanged(poll.since, Math.min(left, ROUND_MS));
        end = waiting.end;
        await waiting.changed;
        if (isGone) continue;
        await poll.assertPermitted();
        watch.poll();
      }
    } finally {
      removeListener();
    }
  }

  return {
    async version(scope, filter) {
      const { content } = await watches.of(snapshotScope(scope), filter).current();
      return content.version;
    },

    snapshot(scope, filter) {
      const watch = watches.of(snapshotScope(scope), filter);
      return snapshots.get(watch.id, performance.now(), async (begin) => {
        begin();
        const current = await watch.current();
        const document = await signSnapshot(options, watch.scope, filter, nouns, current);
        return { version: current.content.version, document: Buffer.from(document, 'latin1') };
      });
    },

    async changes(scope, filter, poll) {
      const arrivedAt = performance.now();
      const project = snapshotScope(scope);
      if (!watches.has(project, filter)) await poll.chargeRead();
      const endPoll = poll.timeoutMs > 0 ? waiting.enter(poll.credential, project.ownerId) : () => undefined;
      const watch = watches.of(project, filter);
      try {
        const { content } = await watch.current();
        if (content.version === poll.since) await waitForChange(watch, poll, arrivedAt + poll.timeoutMs);
      } finally {
        endPoll();
      }
      const notBefore = Math.max(arrivedAt, watch.changedAt(), performance.now() - SHARED_MS);
      const document = await answers.get(`${watch.id} ${poll.since}`, notBefore, async (begin) => {
        begin();
        const current = await watch.current();
        const { version } = current.content;
        const difference = version === poll.since ? { put: {}, drop: {} } : watch.differenceSince(poll.since);
        return Buffer.from(
          await signChanges(options, watch.scope, poll.since, difference, current),
          'latin1',
        );
      });
      // Reading all rows takes time, and the caller may have lost the right in the meantime.
      await poll.assertPermitted();
      return document;
    },

    stop: () => watches.stop(),
  };
}
