import { describe, expect, it } from 'vitest';
import { operations } from '../operations.ts';
import { Lane, laneOf } from './lanes.ts';

const MOST = 1000;
const lane = (name: 'plain' | 'checks' = 'plain') => new Lane(name, { most: MOST, adapts: true });

/** One look at a lane in which so many were under way at once. */
function look(one: Lane, underWay: number, pressure: number): number {
  for (let count = 0; count < underWay; count++) one.enter();
  one.leave(underWay);
  one.adapt(pressure);
  return one.limit;
}

describe('the bound of a lane', () => {
  it('is cut to what may wait, by half at most, and never below eight', () => {
    const one = lane();
    expect(look(one, 100, 1.25)).toBe(80);
    expect(look(one, 80, 10)).toBe(40);
    for (let count = 0; count < 5; count++) look(one, one.limit, 10);
    expect(one.limit).toBe(8);
  });

  it('is not cut again before those have left whom the last cut was meant to keep out', () => {
    const one = lane();
    expect(look(one, 100, 2)).toBe(50);
    expect(look(one, 100, 2)).toBe(50);
    expect(look(one, 50, 2)).toBe(25);
  });

  it('settles where the wait is the target', () => {
    const one = lane();
    // 200 answers a second and a target of 200 ms: forty under way.
    for (let count = 0; count < 200; count++) look(one, one.limit, one.limit / 200 / 0.2);
    expect(one.limit).toBeGreaterThanOrEqual(36);
    expect(one.limit).toBeLessThanOrEqual(44);
  });

  it('grows while it is made use of and nobody waits, up to the most, and comes back to a burst', () => {
    const one = lane();
    for (let count = 0; count < 50; count++) look(one, one.limit, 0);
    expect(one.limit).toBe(MOST);
    for (let count = 0; count < 500; count++) look(one, 1, 0);
    expect(one.limit).toBe(128);
    look(one, 16, 9);
    for (let count = 0; count < 50; count++) look(one, 0, 0);
    expect(one.limit).toBeGreaterThanOrEqual(128);
  });

  it('of what is never waited for is the most', () => {
    expect(lane('checks').limit).toBe(MOST);
    expect(new Lane('plain', { most: MOST, adapts: false }).limit).toBe(MOST);
    expect(new Lane('plain', { most: 1, adapts: true }).limit).toBe(1);
  });

  it('is reached by those who entered and did not leave', () => {
    const one = new Lane('plain', { most: 2, adapts: true });
    one.enter();
    expect(one.isFull).toBe(false);
    one.enter();
    expect(one.isFull).toBe(true);
    one.leave(1);
    expect(one.isFull).toBe(false);
  });
});

describe('the lane of an operation', () => {
  const lanes = new Map(operations.map((op) => [op.name, laneOf(op)]));

  it.each([
    ['health', null],
    ['healthLive', null],
    ['isAuthorized', 'checks'],
    ['isAuthorizedBatch', 'checks'],
    ['myPermissions', 'checks'],
    ['exchangeApiKey', 'exchange'],
    ['refreshSession', 'exchange'],
    ['login', 'signIn'],
    ['register', 'signIn'],
    ['roles', 'lists'],
    ['auditLogs', 'lists'],
    ['exportMe', 'lists'],
    ['role', 'plain'],
    ['createRole', 'plain'],
  ])('%s is %s', (name, expected) => {
    expect(lanes.get(name)).toBe(expected);
  });

  it('is none for health alone', () => {
    const none = operations.filter((op) => laneOf(op) === null);
    expect(none.map(({ path }) => path).sort()).toEqual(['/health', '/health/live', '/health/ready']);
  });
});
