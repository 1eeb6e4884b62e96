import { expect, it } from 'vitest';
import type { Principal } from '../kernel/context.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import { createCallerWatch } from './caller-watch.ts';

const principal = { userId: 'ada', credentialId: 'c1' } as Principal;
const scope = { nodeId: 'shop', parentId: 'firm' } as ResolvedScope;

/** A started watch with controllable changes and clock. */
function begin({ trusted = true, isAgain = false } = {}) {
  let [at, ms] = [7, 1000];
  const changedAt = new Map<string, number>();
  const watch = createCallerWatch(
    {
      now: () => at,
      isFresh: (moment, topics) => topics.every((topic) => (changedAt.get(topic) ?? 0) <= moment),
      isTrusted: () => trusted,
    },
    () => ms,
  );
  const isDue = watch(isAgain);
  return {
    isDue: () => isDue(principal, scope),
    isDueWithoutScope: () => isDue(principal, undefined),
    hear: (topic: string) => void changedAt.set(topic, ++at),
    pass: (more: number) => void (ms += more),
  };
}

it('needs no check while nothing changes', () => {
  const { isDue, isDueWithoutScope, hear, pass } = begin();
  hear('node:other');
  hear('user:bob');
  pass(60_000);
  expect(isDue()).toBe(false);
  expect(isDueWithoutScope()).toBe(false);
});

it('needs a check after a change of the caller', () => {
  for (const topic of ['user:ada', 'session:c1', 'credential:c1']) {
    const { isDue, isDueWithoutScope, hear } = begin();
    hear(topic);
    expect(isDue(), topic).toBe(true);
    expect(isDueWithoutScope(), topic).toBe(true);
  }
});

it('needs no second check for half a second, although the caller changed', () => {
  const { isDue, hear, pass } = begin({ isAgain: true });
  hear('user:ada');
  pass(500);
  expect(isDue()).toBe(false);
  pass(1);
  expect(isDue()).toBe(true);
});

it('needs no check for half a second after a change in the tenant or its owner', () => {
  for (const topic of ['node:shop', 'node:firm']) {
    const { isDue, isDueWithoutScope, hear, pass } = begin();
    hear(topic);
    pass(500);
    expect(isDue(), topic).toBe(false);
    pass(1);
    expect(isDue(), topic).toBe(true);
    expect(isDueWithoutScope(), topic).toBe(false);
  }
});

it('needs a check after half a second if changes are not trusted', () => {
  const { isDue, pass } = begin({ trusted: false });
  pass(500);
  expect(isDue()).toBe(false);
  pass(1);
  expect(isDue()).toBe(true);
});

it('ignores changes before its start', () => {
  const changes = { now: () => 3, isFresh: (moment: number) => moment >= 3, isTrusted: () => true };
  expect(createCallerWatch(changes)()(principal, scope)).toBe(false);
});
