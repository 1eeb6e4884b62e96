import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { transports, type Via } from '../support/app/client.ts';
import { caseFiles, readCaseFile, type Attempt, type CaseFile, type Question } from './case-file.ts';
import { decideOver, tryOver } from './over-api.ts';
import { decidePurely, tryPurely } from './pure.ts';
import { buildWorld, castOf, type Cast, type CaseWorld } from './case-world.ts';

/**
 * The golden cases of *.yaml against the pure core, over REST and over GraphQL. Each file has one world, so a case
 * must not depend on a change by another one.
 */
const files = caseFiles();
type Surface = 'pure' | Via;
const ran: Record<Surface, number> = { pure: 0, rest: 0, graphql: 0 };

const isQuestion = (item: Question | Attempt): item is Question => 'asks' in item;
const casesOf = ({ decisions = [], escalations = [] }: CaseFile) => [...decisions, ...escalations];
const named = (cases: (Question | Attempt)[]) => cases.map((case_) => [case_.case, case_] as const);
const isPure = (item: Question | Attempt) => isQuestion(item) || item.outsidePureCore === undefined;

/** Only what a case expects is compared: it need not name the deciding permission. */
const expectedOf = (item: Question | Attempt): Record<string, unknown> => {
  if (!isQuestion(item)) {
    const { result, missing, reason } = item;
    return { result, ...(missing && { missing }), ...(reason && { reason }) };
  }
  const { authorized, reason, permission } = item;
  return { authorized, reason, ...(permission && { permission }) };
};

/** The order of the missing permissions has no meaning. */
const inOrder = <T extends object>(item: T): T =>
  'missing' in item && Array.isArray(item.missing)
    ? { ...item, missing: (item.missing as string[]).toSorted() }
    : item;

function expectCase(file: string, surface: Surface, item: Question | Attempt, came: object): void {
  ran[surface]++;
  expect(inOrder(came), `${file}, "${item.case}", ${surface}: came ${JSON.stringify(came)}`).toMatchObject(
    inOrder(expectedOf(item)),
  );
}

describe.each(files.map((file) => [file.file, file] as const))('%s', (name, file) => {
  it.each(named(casesOf(file).filter(isPure)))('pure: %s', (_, item) => {
    const came = isQuestion(item) ? decidePurely(file.world, item) : tryPurely(file.world, item);
    expectCase(name, 'pure', item, came);
  });
});

describe('over the API', () => {
  let app: TestApp;
  let cast: Cast;
  beforeAll(async () => {
    app = await startApp();
    cast = castOf(app);
  });
  afterAll(() => app.close());

  describe.each(files.map((file, index) => [file.file, file, index] as const))('%s', (name, file, index) => {
    const worlds = new Map<Via, Promise<CaseWorld>>();
    /** Questions change nothing, so one world serves both transports; attempts need a world for each. */
    const worldFor = (via: Via): Promise<CaseWorld> => {
      const builder = file.escalations ? via : (transports[index % transports.length] ?? via);
      const world = worlds.get(builder) ?? buildWorld(app, builder, cast, file);
      worlds.set(builder, world);
      return world;
    };

    describe.each(storyTransports(import.meta))('%s', (via) => {
      let caseWorld: CaseWorld;
      beforeAll(async () => {
        caseWorld = await worldFor(via);
      });

      it.each(named(casesOf(file)))('%s', async (_, item) => {
        const came = isQuestion(item)
          ? await decideOver(via, app, caseWorld, item)
          : await tryOver(via, app, caseWorld, item);
        expectCase(name, via, item, came);
      });
    });
  });
});

describe('the cases', () => {
  it('have unique names', () => {
    for (const file of files) {
      const names = casesOf(file).map((item) => item.case);
      expect(new Set(names).size, file.file).toBe(names.length);
    }
  });

  it('are refused with an unknown member', () => {
    const world = { founder: 'Olga', places: {} };
    const requested = { case: 'x', who: 'Olga', where: 'nowhere', asks: 'a:b', authorized: false };
    const good = { title: 'x', world, decisions: [{ ...requested, reason: 'INVALID_SCOPE' }] };
    expect(readCaseFile(JSON.stringify(good), 'x')).toMatchObject(good);
    const bad: object[] = [
      { ...good, decision: [] },
      { ...good, world: { ...world, palces: {} } },
      { ...good, decisions: [{ ...requested, reason: 'INVALID_SCOPES' }] },
      { ...good, decisions: [{ ...requested, reason: 'ALLOWED' }] },
      { ...good, decisions: [{ ...requested, reason: 'INVALID_SCOPE', key: 'k' }] },
      { ...good, decisions: [{ ...requested, reason: 'INVALID_SCOPE', expect: true }] },
      { ...good, escalations: [{ case: 'x', who: 'Olga', where: 'y', tries: {}, result: 'allowed' }] },
      {
        ...good,
        escalations: [
          { case: 'x', who: 'Olga', where: 'y', tries: { deleteRole: { role: 'R' } }, result: 'LAST_OWNER' },
        ],
      },
    ];
    for (const item of bad) expect(() => readCaseFile(JSON.stringify(item), 'x.yaml')).toThrow(/^x\.yaml: /);
  });

  it('are many, and most of them run everywhere', () => {
    const all = files.flatMap(casesOf);
    process.stdout.write(
      `decisions: ${all.length} cases, pure ${ran.pure}, REST ${ran.rest}, GraphQL ${ran.graphql}\n`,
    );
    expect(all.filter(isPure).length).toBeGreaterThanOrEqual(120);
  });
});
