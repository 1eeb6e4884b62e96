import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { startTests } from 'vitest/internal/browser';
import {
  TestRunner,
  vi,
  type RunnerTask,
  type RunnerTestCase,
  type RunnerTestFile,
  type RunnerTestSuite,
} from 'vitest';
import { activate, taken } from './active.ts';
import { failureOf, findBroken, nameOf, reasonOf, suitesOf, testsOf, type Verdict } from './tasks.ts';
import { instrumented, isFor, keyOf, readLines, root, kept, type Line } from './plan.ts';

/**
 * Runs a file of tests as it is, and notes which test comes by which mutant. Then once more for each mutant that still
 * lives, with the tests that come by it, until one fails.
 *
 * A test may only fail for the mutant's sake: one that fails by itself when it runs without those before it is not
 * believed.
 */
const journal = process.env['MUTATION_JOURNAL'] ?? '';
const MOST_BYTES = 2_500_000_000;

const mutants = new Map(
  [...instrumented().values()].flatMap((instrumented) =>
    instrumented.mutants.map((mutant) => [mutant.id, mutant] as const),
  ),
);

const note = (line: Line): void => appendFileSync(journal, `${JSON.stringify(line)}\n`);

const keyOfId = (id: number): string | undefined => {
  const mutant = mutants.get(id);
  return mutant && keyOf(mutant);
};

/** What Vitest keeps to itself: the modules that were loaded. */
interface Inside {
  readonly workerState: {
    readonly evaluatedModules: {
      getModuleById(id: string): object | undefined;
      invalidateModule(module: object): void;
    };
  };
}

export default class MutationRunner extends TestRunner {
  /** Mutants that a test comes by, and those that the loading of modules or a hook does. */
  private readonly byTest = new Map<string, Set<number>>();
  private loading = new Set<number>();
  private readonly around = new Set<number>();
  /** What a kept world ends with. */
  private last: ((suite: RunnerTestSuite) => unknown)[] = [];

  onBeforeCollect(): void {
    vi.resetModules();
    this.byTest.clear();
    this.around.clear();
    taken();
  }

  onBeforeRunFiles(files: RunnerTestFile[]): void {
    this.loading = taken();
    const [file] = files;
    if (!file || !kept.has(relative(root, file.filepath))) return;
    const hooks = TestRunner.getSuiteHooks(file);
    this.last = hooks.afterAll.splice(0);
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    for (const id of taken()) this.around.add(id);
    await super.onBeforeRunTask(test);
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    this.byTest.set(test.id, taken());
    super.onAfterRunTask(test);
  }

  // Vitest waits for it, although its own does nothing that takes time.
  // oxlint-disable-next-line typescript/no-misused-promises
  override async onAfterRunFiles(): Promise<void> {
    for (const id of taken()) this.around.add(id);
    const [file] = this.files;
    if (file) {
      await this.mutate(file);
      for (const hook of this.last.splice(0)) await hook(file);
    }
    super.onAfterRunFiles();
  }

  private files: RunnerTestFile[] = [];
  onCollected(files: RunnerTestFile[]): void {
    this.files = files;
  }

  private async mutate(file: RunnerTestFile): Promise<void> {
    const test = relative(root, file.filepath);
    if (file.result?.state !== 'pass') throw new Error(`${test} fails without any mutant`);
    const covered = new Set([
      ...this.loading,
      ...this.around,
      ...[...this.byTest.values()].flatMap((ids) => [...ids]),
    ]);
    const lines = readLines(journal);
    if (!lines.some((line) => line.kind === 'covered' && line.test === test))
      note({ kind: 'covered', test, mutants: [...covered].flatMap((id) => keyOfId(id) ?? []) });
    const done = new Set(
      lines.flatMap((line) =>
        line.kind === 'killed' || (line.kind === 'lived' && line.test === test) ? [line.mutant] : [],
      ),
    );
    const names = new Map<string, boolean>();
    const again = kept.has(test) ? await this.repeatable(file) : undefined;
    for (const id of [...covered].sort((a, b) => a - b)) {
      const item = mutants.get(id);
      if (!item || done.has(keyOf(item)) || !isFor(test, item.file)) continue;
      const mutant = keyOf(item);
      note({ kind: 'tried', mutant, test });
      const verdict =
        (again && (await this.verdictInPlace(file, id, again))) ?? (await this.verdictOn(file, id, names));
      note(
        verdict && verdict !== 'lived'
          ? { kind: 'killed', mutant, test, ...verdict }
          : { kind: 'lived', mutant, test },
      );
      if (process.memoryUsage().rss > MOST_BYTES) {
        globalThis.gc?.();
        // Apps that were not closed, because a hook failed, are not given back: run.ts starts another process.
        if (process.memoryUsage().rss > MOST_BYTES) process.kill(process.pid, 'SIGKILL');
      }
    }
    vi.resetModules();
    note({ kind: 'finished', test });
  }

  /** Tests that pass once more in the world that they left. */
  private async repeatable(file: RunnerTestFile): Promise<ReadonlySet<RunnerTestCase>> {
    const passed = new Set<RunnerTestCase>();
    for (const test of testsOf(file)) if ((await failureOf(test, 0)) === undefined) passed.add(test);
    return passed;
  }

  /** The same by tests in the world that stands. Undefined if that does not tell. */
  private async verdictInPlace(
    file: RunnerTestFile,
    id: number,
    again: ReadonlySet<RunnerTestCase>,
  ): Promise<Verdict | 'lived' | undefined> {
    if (this.loading.has(id)) return undefined;
    const chosen = testsOf(file).filter((test) => this.byTest.get(test.id)?.has(id));
    // Only the making of the world comes by it: another file will tell more, and sooner.
    if (chosen.length === 0) return 'lived';
    for (const test of chosen.filter((test) => again.has(test))) {
      const why = await failureOf(test, id);
      if (why === undefined) continue;
      if ((await failureOf(test, 0)) === undefined) return { by: nameOf(test), why };
      // This mutant has spoilt the world, or one before it: what it does to a new one is believed.
      await this.rebuild(file);
      const fails = (await failureOf(test, 0)) === undefined && (await failureOf(test, id)) !== undefined;
      await this.rebuild(file);
      if (fails) return { by: nameOf(test), why };
    }
    return chosen.length > 0 && chosen.every((test) => again.has(test)) ? 'lived' : undefined;
  }

  private async rebuild(file: RunnerTestFile): Promise<void> {
    for (const hook of this.last) await hook(file);
    for (const suite of suitesOf(file))
      for (const hook of TestRunner.getSuiteHooks(suite).beforeAll) await hook(suite);
  }

  /** Which test fails for the mutant's sake; undefined if none does. */
  private async verdictOn(
    file: RunnerTestFile,
    id: number,
    independent: Map<string, boolean>,
  ): Promise<Verdict | undefined> {
    const reload = this.loading.has(id);
    const everywhere = reload || this.around.has(id);
    const chosen = new Set(
      [...this.byTest].flatMap(([test, ids]) =>
        (everywhere || ids.has(id)) && independent.get(test) !== false ? [test] : [],
      ),
    );
    for (;;) {
      const failure = await this.firstFailure(file.filepath, id, chosen, reload);
      if (!failure) return undefined;
      if (failure.test === undefined) return { by: 'before any test', why: failure.why };
      const existing =
        independent.get(failure.test) ??
        (await this.firstFailure(file.filepath, 0, new Set([failure.test]), false)) === undefined;
      independent.set(failure.test, existing);
      if (existing) return { by: failure.name, why: failure.why };
      chosen.delete(failure.test);
    }
  }

  private async firstFailure(
    path: string,
    id: number,
    chosen: ReadonlySet<string>,
    reload: boolean,
  ): Promise<{ test: string | undefined; name: string; why: string } | undefined> {
    const { evaluatedModules } = (this as unknown as Inside).workerState;
    const existing = evaluatedModules.getModuleById(path);
    if (reload) vi.resetModules();
    else if (existing) evaluatedModules.invalidateModule(existing);
    let failed: RunnerTask | undefined;
    const quiet = Object.create(this) as TestRunner & Record<string, unknown>;
    Object.assign(quiet, {
      onTaskUpdate: undefined,
      onBeforeCollect: undefined,
      onCollectStart: (file: RunnerTestFile) => TestRunner.prototype.onCollectStart.call(quiet, file),
      onCollected: undefined,
      onBeforeRunFiles: undefined,
      onAfterRunFiles: undefined,
      onBeforeRunTask: async (test: RunnerTestCase) => {
        if (failed || !chosen.has(test.id)) test.mode = 'skip';
        await TestRunner.prototype.onBeforeRunTask.call(quiet, test);
      },
      onAfterRunTask: (test: RunnerTestCase) => {
        if (test.result?.state === 'fail') failed ??= test;
        TestRunner.prototype.onAfterRunTask.call(quiet, test);
      },
    });
    activate(id);
    try {
      const [file] = await startTests([path], quiet);
      if (failed) return { test: failed.id, name: nameOf(failed), why: reasonOf(failed) };
      const broken = file && findBroken(file);
      return broken && { test: undefined, name: '', why: reasonOf(broken) };
    } finally {
      activate();
      if (reload) vi.resetModules();
    }
  }
}
