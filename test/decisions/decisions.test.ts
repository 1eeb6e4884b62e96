import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { transports, type Via } from '../support/client.ts';
import { caseFiles, readCaseFile, type Attempt, type CaseFile, type Question } from './case-file.ts';
import { decideOver, tryOver } from './over-api.ts';
import { decidePurely, tryPurely } from './pure.ts';
import { buildWorld, castOf, type Cast, type StandingWorld } from './standing-world.ts';

/**
 * Who holds what, what is asked or tried, and what comes of it: each case of *.yaml against the pure core, over REST
 * and over GraphQL. Each file has one world, so no case may need what another one changes.
 */
const files = caseFiles();
type Surface = 'pure' | Via;
const ran: Record<Surface, number> = { pure: 0, rest: 0, graphql: 0 };

const isQuestion = (one: Question | Attempt): one is Question => 'asks' in one;
const casesOf = ({ decisions = [], escalations = [] }: CaseFile) => [...decisions, ...escalations];
const named = (cases: (Question | Attempt)[]) => cases.map((one) => [one.case, one] as const);
const isPure = (one: Question | Attempt) => isQuestion(one) || one.outsidePureCore === undefined;

/** Only what a case expects is compared: the permission by which it was decided need not be named. */
const expectedOf = (one: Question | Attempt): Record<string, unknown> => {
  if (!isQuestion(one)) {
    const { result, missing, reason } = one;
    return { result, ...(missing && { missing }), ...(reason && { reason }) };
  }
  const { authorized, reason, permission } = one;
  return { authorized, reason, ...(permission && { permission }) };
};

/** In which order the missing permissions are named says nothing. */
const inOrder = <T extends object>(one: T): T =>
  'missing' in one && Array.isArray(one.missing)
    ? { ...one, missing: (one.missing as string[]).toSorted() }
    : one;

function expectCase(file: string, surface: Surface, one: Question | Attempt, came: object): void {
  ran[surface]++;
  expect(inOrder(came), `${file}, "${one.case}", ${surface}: came ${JSON.stringify(came)}`).toMatchObject(
    inOrder(expectedOf(one)),
  );
}

describe.each(files.map((file) => [file.file, file] as const))('%s', (name, file) => {
  it.each(named(casesOf(file).filter(isPure)))('pure: %s', (_, one) => {
    const came = isQuestion(one) ? decidePurely(file.world, one) : tryPurely(file.world, one);
    expectCase(name, 'pure', one, came);
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
    const worlds = new Map<Via, Promise<StandingWorld>>();
    /** Questions change nothing, so one world serves both transports; what is tried needs one for each. */
    const worldFor = (via: Via): Promise<StandingWorld> => {
      const builder = file.escalations ? via : (transports[index % transports.length] ?? via);
      const world = worlds.get(builder) ?? buildWorld(app, builder, cast, file);
      worlds.set(builder, world);
      return world;
    };

    describe.each(transports)('%s', (via) => {
      let standing: StandingWorld;
      beforeAll(async () => {
        standing = await worldFor(via);
      });

      it.each(named(casesOf(file)))('%s', async (_, one) => {
        const came = isQuestion(one)
          ? await decideOver(via, app, standing, one)
          : await tryOver(via, app, standing, one);
        expectCase(name, via, one, came);
      });
    });
  });
});

describe('the cases', () => {
  it('have names of their own', () => {
    for (const file of files) {
      const names = casesOf(file).map((one) => one.case);
      expect(new Set(names).size, file.file).toBe(names.length);
    }
  });

  it('are refused with anything in them that is not known', () => {
    const world = { founder: 'Olga', places: {} };
    const asked = { case: 'x', who: 'Olga', where: 'nowhere', asks: 'a:b', authorized: false };
    const good = { title: 'x', world, decisions: [{ ...asked, reason: 'INVALID_SCOPE' }] };
    expect(readCaseFile(JSON.stringify(good), 'x')).toMatchObject(good);
    const bad: object[] = [
      { ...good, decision: [] },
      { ...good, world: { ...world, palces: {} } },
      { ...good, decisions: [{ ...asked, reason: 'INVALID_SCOPES' }] },
      { ...good, decisions: [{ ...asked, reason: 'ALLOWED' }] },
      { ...good, decisions: [{ ...asked, reason: 'INVALID_SCOPE', key: 'k' }] },
      { ...good, decisions: [{ ...asked, reason: 'INVALID_SCOPE', expect: true }] },
      { ...good, escalations: [{ case: 'x', who: 'Olga', where: 'y', tries: {}, result: 'allowed' }] },
      {
        ...good,
        escalations: [
          { case: 'x', who: 'Olga', where: 'y', tries: { deleteRole: { role: 'R' } }, result: 'LAST_OWNER' },
        ],
      },
    ];
    for (const one of bad) expect(() => readCaseFile(JSON.stringify(one), 'x.yaml')).toThrow(/^x\.yaml: /);
  });

  it('are many, and most of them run everywhere', () => {
    const all = files.flatMap(casesOf);
    process.stdout.write(
      `decisions: ${all.length} cases, pure ${ran.pure}, REST ${ran.rest}, GraphQL ${ran.graphql}\n`,
    );
    expect(all.filter(isPure).length).toBeGreaterThanOrEqual(120);
  });
});
