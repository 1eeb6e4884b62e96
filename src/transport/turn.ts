import type { Lane } from './lanes.ts';

/** In milliseconds: an answer does not wait for more of them when the first has waited so long. */
const MAY_WAIT_MS = 1;

/** Passes an answer on; with an error it becomes the answer to that. */
type Send = (error?: Error) => void;

export interface Turn {
  /** Somebody is looked at: nobody is worked on any more. @returns milliseconds since the turn began */
  readonly look: () => number;
  /** A request of that lane is worked on from now on, until the next look. */
  readonly work: (lane: Lane) => void;
  /** Milliseconds of this turn for which requests of that lane were worked on, up to the last look. */
  readonly workedOn: (lane: Lane) => number;
  /** Sends an answer together with others of this turn. */
  readonly answer: (send: Send) => void;
  /** What is to be called when an answer of that lane is out. */
  readonly leaves: (lane: Lane) => () => void;
}

/**
 * A turn of the event loop, from the first request in it.
 *
 * With the embedded database a request is begun, worked on and answered in one go, before the next that came with it is
 * looked at. So places become free when the turn ends: counted by the moment there would never be more than one under
 * way, however many stand behind it.
 *
 * And what is answered in one turn goes out together (docs/decisions/0024): whoever reads it, a proxy with its many
 * connections, is woken once for all, and the system calls of one kind come one behind the other.
 */
export function createTurn(lanes: readonly Lane[], now: () => number = () => performance.now()): Turn {
  let began: number | undefined;
  let taken: { readonly lane: Lane; readonly at: number } | null = null;
  let ready: Send[] = [];
  let firstReady = 0;
  const worked = new Map<Lane, number>();
  const left = new Map(lanes.map((lane) => [lane, 0]));

  function sendAll(): void {
    const all = ready;
    ready = [];
    for (const send of all) {
      try {
        send();
      } catch (error) {
        // What the server would have caught, had it sent this answer at once.
        send(error as Error);
      }
    }
  }

  /** Behind the answers, whose ends are told between the two: so those have left that were answered. */
  function end(): void {
    began = undefined;
    for (const [lane, count] of left) {
      if (count > 0) lane.leave(count);
      left.set(lane, 0);
    }
    // What became ready while others went out is an answer of the next turn.
    if (ready.length > 0) begin();
  }

  function begin(): number {
    if (began !== undefined) return began;
    taken = null;
    worked.clear();
    setImmediate(sendAll);
    setImmediate(end);
    return (began = now());
  }

  const leaves = new Map(
    lanes.map((lane) => [
      lane,
      () => {
        begin();
        left.set(lane, (left.get(lane) ?? 0) + 1);
      },
    ]),
  );
  return {
    look() {
      const since = begin();
      const at = now();
      if (taken) worked.set(taken.lane, (worked.get(taken.lane) ?? 0) + at - taken.at);
      taken = null;
      return at - since;
    },
    work(lane) {
      begin();
      taken = { lane, at: now() };
    },
    workedOn: (lane) => worked.get(lane) ?? 0,
    answer(send) {
      begin();
      if (ready.push(send) === 1) firstReady = now();
      else if (now() - firstReady >= MAY_WAIT_MS) sendAll();
    },
    leaves: (lane) => leaves.get(lane) as () => void,
  };
}
