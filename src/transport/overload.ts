import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { fail, type DoorwardError } from '../errors.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { whenEnded } from './ended.ts';
import { Lane, laneNames, laneOf, type LaneName } from './lanes.ts';
import { createTurn, type Turn } from './turn.ts';
import { startWaits } from './waits.ts';

/**
 * Sheds load: whoever comes while his lane is full is told to come again, before his token or his body is looked at, so
 * that those who were let in are served as fast as ever (docs/decisions/0019). Health and metrics are in no lane.
 *
 * A request counts from when it has arrived whole, so that nobody holds a place by sending slowly, to the end of its
 * answer.
 */
/**
 * How long a turn takes new ones in, by the delay that may stand. So much is a burst: it is worked off, and nobody is
 * refused.
 */
const BURST_TURN = 3;
/**
 * From the first refusal on, and while the loop stands late, so much of a turn is for each lane: a flood of changes, which
 * take milliseconds, leaves decisions their place, which take microseconds. Whoever comes stands behind what the last turn
 * took in, waits for his own turn to be over, and is refused then.
 */
const TURN_UNDER_LOAD = 0.1;
/** So many of a lane are let in although the turn is long: something must be served, however slow it is. */
const FEWEST_IN_A_TURN = 1;

export interface OverloadOptions {
  readonly limits: Config['overload'];
  readonly operations: readonly NamedOperation[];
  /** As little as can be asked of the database; what it takes is what others wait for a connection. */
  readonly askDatabase: () => Promise<unknown>;
  /** Milliseconds for which those have waited who flood one tenant with changes. */
  readonly lineMs: () => number;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly lane?: LaneName;
  }
  interface FastifyRequest {
    /** The lane in which it is under way and not answered yet. */
    place: Lane | null;
  }
  interface FastifyInstance {
    /** For the metrics. */
    lanes: readonly Lane[];
  }
}

export interface Overload {
  /** @throws the refusal when there is no room for a request of its lane */
  readonly assertRoom: (request: FastifyRequest) => void;
  /** The same for whoever has not been to the router: whether he is refused, and then he is counted. */
  readonly refuses: (name: LaneName) => boolean;
  readonly refusal: DoorwardError;
  readonly answer: Turn['answer'];
}

/** On a server that has no routes yet. */
export function createOverload(
  app: FastifyInstance,
  { limits, operations, askDatabase, lineMs }: OverloadOptions,
): Overload {
  const adapts = limits.delayMs > 0 || limits.waitMs > 0;
  const lanes = laneNames.map((name) => new Lane(name, { most: limits.maxInFlight, adapts }));
  const named = new Map(lanes.map((lane) => [lane.name, lane]));
  const byOperation = new Map(operations.map((op) => [op.name, laneOf(op)]));
  // Made once: a flood must not pay for its refusals.
  const refusal = fail('UNAVAILABLE', { headers: { 'Retry-After': '1' } });
  app.decorate('lanes', lanes);

  app.addHook('onRoute', (route) => {
    const { operation } = route.config ?? {};
    // Pages and documents stand in no lane: they are files, or texts that were written at the start.
    const lane = route.url === '/graphql' ? 'graphql' : byOperation.get(operation ?? '');
    if (lane) route.config = { ...route.config, lane };
  });

  const turn = createTurn(lanes);
  const mayLast = limits.delayMs > 0 ? limits.delayMs : Infinity;
  let underLoad = false;
  const laneFor = ({ route }: FastifyRequest): Lane | undefined => named.get(route?.lane as LaneName);
  const refuses = (lane: Lane | undefined): boolean => {
    if (!lane) return false;
    const lasted = turn.look();
    const isLong = underLoad
      ? turn.workedOn(lane) > TURN_UNDER_LOAD * mayLast
      : lasted > BURST_TURN * mayLast;
    if (!lane.isFull && !(isLong && lane.inFlight >= FEWEST_IN_A_TURN)) return false;
    lane.shed++;
    underLoad = true;
    return true;
  };
  const assertRoom = (lane: Lane | undefined): void => {
    if (refuses(lane)) throw refusal;
  };
  app.decorateRequest('place', null);
  app.addHook('preHandler', (request, _reply, done) => {
    const lane = laneFor(request);
    // Many may have been let in to send their bodies while there was room for few.
    assertRoom(lane);
    if (lane) {
      lane.enter();
      turn.work(lane);
      request.place = lane;
    }
    done();
  });
  // From here on it is the answer that ends it. Whoever went away before is worked for to the end all the same.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const lane = request.place;
    if (lane) {
      request.place = null;
      whenEnded(request.raw, reply.raw, turn.leaves(lane));
    }
    turn.answer(done);
  });

  if (adapts) {
    let shedBefore = 0;
    const part = (wait: number, target: number): number => (target > 0 ? wait / target : 0);
    const waits = startWaits({
      isBusy: () => lanes.some(({ isBusy }) => isBusy),
      askDatabase,
      lineMs,
      measured() {
        const delay = part(waits.loop(), limits.delayMs);
        const all = Math.max(delay, part(waits.work(), limits.waitMs));
        const shed = lanes.reduce((sum, lane) => sum + lane.shed, 0);
        underLoad = delay > 1 || shed > shedBefore;
        shedBefore = shed;
        for (const lane of lanes) lane.adapt(lane.name === 'checks' ? delay : all);
      },
    });
    app.addHook('onClose', async () => waits.stop());
  }
  return {
    assertRoom: (request) => assertRoom(laneFor(request)),
    refuses: (name) => refuses(named.get(name)),
    refusal,
    answer: turn.answer,
  };
}
