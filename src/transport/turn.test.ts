import fastify from 'fastify';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config.ts';
import { Lane } from './lanes.ts';
import { createOverload } from './overload.ts';
import { createTurn } from './turn.ts';

const laneOfOne = () => new Lane('plain', { most: 1000, adapts: true });

describe('answers of one turn of the event loop', () => {
  it('go out together when it ends, in their order', async () => {
    const turn = createTurn([]);
    const sent: string[] = [];
    turn.answer(() => void sent.push('first'));
    await Promise.resolve();
    turn.answer(() => void sent.push('second'));
    expect(sent).toEqual([]);
    await turnEnd();
    expect(sent).toEqual(['first', 'second']);
  });

  it('go out before it ends when the first has waited for a millisecond', async () => {
    let now = 0;
    const turn = createTurn([], () => now);
    const sent: string[] = [];
    const answer = (name: string, at: number) => {
      now = at;
      turn.answer(() => void sent.push(name));
    };
    answer('first', 5);
    answer('second', 5.5);
    expect(sent).toEqual([]);
    answer('third', 6);
    expect(sent).toEqual(['first', 'second', 'third']);
    answer('fourth', 6.5);
    await turnEnd();
    expect(sent).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('that became ready while others went out do so in the next one', async () => {
    const turn = createTurn([]);
    const last = new Promise<string>((sent) => {
      turn.answer(() => process.nextTick(() => turn.answer(() => sent('last'))));
    });
    expect(await last).toBe('last');
  });

  it('give back their places with it, those too that it ends with', async () => {
    const lane = laneOfOne();
    const turn = createTurn([lane]);
    turn.look();
    for (let count = 0; count < 2; count++) {
      lane.enter();
      // As Node tells of the end of an answer.
      turn.answer(() => process.nextTick(turn.leaves(lane)));
    }
    expect(lane.inFlight).toBe(2);
    await turnEnd();
    expect(lane.inFlight).toBe(0);
  });

  it('that cannot be written become errors, and the others go out', async () => {
    const app = fastify();
    createOverload(app, {
      limits: loadConfig({}).overload,
      operations: [],
      askDatabase: () => Promise.resolve(),
      lineMs: () => 0,
    });
    app.get('/broken', (_request, reply) => reply.header('x-line', 'a\nb').send('never'));
    app.get('/whole', () => 'whole');
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    try {
      const statuses = await Promise.all(
        ['/broken', '/whole', '/broken', '/whole'].map(
          async (path) => (await fetch(`${address}${path}`)).status,
        ),
      );
      expect(statuses).toEqual([500, 200, 500, 200]);
    } finally {
      await app.close();
    }
  });
});

describe('the time of a turn', () => {
  it('is counted for the lane that was worked on, until somebody else is looked at', async () => {
    let now = 100;
    const [changes, decisions] = [laneOfOne(), laneOfOne()];
    const turn = createTurn([changes, decisions], () => now);
    const after = (ms: number): number => {
      now += ms;
      return turn.look();
    };
    expect(turn.look()).toBe(0);
    turn.work(changes);
    expect(after(8)).toBe(8);
    // He is refused, which is work on nobody.
    expect(after(1)).toBe(9);
    turn.work(decisions);
    after(0.5);
    turn.work(changes);
    after(4);
    expect([changes, decisions].map(turn.workedOn)).toEqual([12, 0.5]);

    turn.work(changes);
    await turnEnd();
    expect(after(3)).toBe(0);
    expect([changes, decisions].map(turn.workedOn)).toEqual([0, 0]);
  });
});
