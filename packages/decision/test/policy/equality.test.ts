import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate, locate, type Grants } from '../../src/evaluate.ts';
import { compileSnapshot } from '../../src/policy/compile.ts';
import { decideAmong } from '../../src/questions/decide-among.ts';
import { decide, type LocalQuestion } from '../../src/questions/decide.ts';
import { effective } from '../../src/questions/effective.ts';
import { explainLocally } from '../../src/questions/explain-locally.ts';
import { heldPairs } from '../../src/questions/held-pairs.ts';
import type { Subject } from '../../src/questions/subject.ts';
import type { SnapshotClaims } from '../../src/snapshot-claims.ts';
import { snapshot, snapshots } from './documents.ts';
import { candidatesOf, grantsOf, partsOf, questionsOf } from './service-way.ts';

/** POLICY_QUESTIONS random questions (100,000 by default): a policy answers as the service does on the same rows. */
const total = Number(process.env['POLICY_QUESTIONS'] ?? 100_000);
const questionsOfRun = 200;

/** The decisions of the service; it, too, loads the rights of a subject once. */
function serviceOf(claims: SnapshotClaims) {
  const loaded = new Map<Subject, Grants>();
  return ({ subject, permission, context, now }: LocalQuestion) => {
    const grants = loaded.get(subject) ?? grantsOf(claims, subject, now);
    loaded.set(subject, grants);
    const attributes = (context?.resource ?? null) as Record<string, unknown> | null;
    return evaluate(grants, { ...partsOf(permission), attributes });
  };
}

describe('a policy', () => {
  it('decides as the service, in every member', () => {
    const reasons = new Map<string, number>();
    fc.assert(
      fc.property(snapshots, fc.nat(100_000), (claims, start) => {
        const policy = compileSnapshot(claims);
        const service = serviceOf(claims);
        for (const question of questionsOf(claims, start, questionsOfRun)) {
          const [local, remote] = [decide(policy, question), service(question)];
          if (!isDeepStrictEqual(local, remote))
            expect({ question, decision: local }).toEqual({ question, decision: remote });
          reasons.set(local.reason, (reasons.get(local.reason) ?? 0) + 1);
        }
      }),
      { numRuns: Math.ceil(total / questionsOfRun) },
    );
    // The questions are not trivial: each reason is a fair share of the answers.
    expect([...reasons.keys()].sort()).toEqual([
      'ALLOWED',
      'ALLOWED_BY_CONDITION',
      'CONDITION_NOT_MET',
      'NO_PERMISSION',
      'SCOPE_NOT_CONSENTED',
      'SUBJECT_INACTIVE',
    ]);
    for (const count of reasons.values()) expect(count).toBeGreaterThan(total / 200);
  });

  it('decides alike by an index of a set of roles and by the indexes of its roles', () => {
    const decided = new Set<string>();
    fc.assert(
      fc.property(snapshots, fc.nat(100_000), (claims, start) => {
        const policy = compileSnapshot(claims);
        const { graph, scope, users } = policy;
        for (const { permission, context, subject, now } of questionsOf(claims, start, questionsOfRun)) {
          const holder = users.get(subject.userId ?? '');
          if (!holder) continue;
          const { resource, action } = partsOf(permission);
          const given = { user: holder.user, scope, resource: context?.resource };
          const target = locate(graph.names, resource, action);
          const decision = decide(policy, {
            subject: { userId: subject.userId ?? '' },
            permission,
            context,
            now,
          });
          if (holder.roles.ids.length > 1) decided.add(decision.reason);
          expect(decideAmong(graph, holder.roles.ids, target, given)).toEqual(decision);
        }
      }),
      { numRuns: 200 },
    );
    expect(decided.size).toBe(4);
  });

  it('decides by single roles beyond the memory that indexes of sets may have', () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);
    const roleIds = numbers(10);
    const permissionIds = numbers(1000);
    const sets = roleIds.flatMap((a) => roleIds.filter((b) => a < b).map((b) => [a, b]));
    const claims = snapshot({
      resources: [{ id: 'order', slug: 'order', isSystem: false }],
      permissions: permissionIds.map((id) => ({
        id,
        name: id,
        resourceId: 'order',
        action: `a${id}`,
        condition: null,
        createdAt: 1,
      })),
      groups: [{ id: 'all', name: 'all', permissionIds }],
      roles: roleIds.map((id) => ({ id, name: id, groupIds: ['all'] })),
      users: sets.map((set, index) => ({ id: `${index}`, roleIds: set })),
    });
    const { graph, users } = compileSnapshot(claims);
    const indexes = [...users.values()].map(({ roles }) => graph.sets.indexOf(roles, graph.roles));
    expect(indexes.map((index) => index?.project.get('order')?.size)).toEqual([
      ...Array.from({ length: 25 }, () => 1000),
      ...Array.from({ length: 20 }, () => undefined),
    ]);
    const policy = compileSnapshot(claims);
    const reasons = sets.map(
      (_, index) =>
        decide(policy, { subject: { userId: `${index}` }, permission: 'order:a7', now: 0 }).reason,
    );
    expect(new Set(reasons)).toEqual(new Set(['ALLOWED']));
  });

  it('lists and explains as the service', () => {
    fc.assert(
      fc.property(snapshots, fc.nat(100_000), (claims, start) => {
        const policy = compileSnapshot(claims);
        for (const question of questionsOf(claims, start, 20)) {
          expect(explainLocally(policy, question)).toEqual(candidatesOf(claims, question));
          const listed = heldPairs(grantsOf(claims, question.subject, question.now));
          expect(effective(policy, question.subject, question.now)).toEqual(
            listed.map(({ resource, action, conditional }) => ({ resource, action, conditional })),
          );
        }
      }),
      { numRuns: 100 },
    );
  });
});
