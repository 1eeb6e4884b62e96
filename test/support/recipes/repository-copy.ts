import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** The edits of one recipe. Paths are those of the repository. */
export interface Steps {
  /** Inserts text after a passage that occurs once in the file. */
  readonly edit: (path: string, behind: string, added: string) => void;
  /** Inserts text at the end of a file. */
  readonly append: (path: string, added: string) => void;
  /** Writes a new file. */
  readonly create: (path: string, text: string) => void;
  /** Counts a file that another recipe edits for this one too. */
  readonly countFile: (path: string) => void;
  /** Generates a migration, which must have this one statement. */
  readonly migrate: (name: string, statement: string) => void;
}

/** The tracked and new files of the repository in another folder, with the same libraries. */
export class RepositoryCopy {
  /** The files that were edited by hand, by recipe. */
  readonly edited = new Map<string, Set<string>>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'doorward-recipes-'));
  readonly #original = new Map<string, string>();

  constructor() {
    for (const path of listed()) {
      cpSync(join(root, path), join(this.#folder, path));
      this.#original.set(path, this.read(path));
    }
    // Libraries are those of the repository, but our own packages are those of the copy.
    mkdirSync(join(this.#folder, 'node_modules/@doorward'), { recursive: true });
    for (const name of readdirSync(join(root, 'node_modules')))
      if (name !== '@doorward' && name !== '.cache') this.#link(`node_modules/${name}`);
    for (const name of readdirSync(join(root, 'node_modules/@doorward')))
      symlinkSync(join(this.#folder, 'packages', name), join(this.#folder, 'node_modules/@doorward', name));
    // npm installs another version of a package beside the workspace that needs it.
    for (const folder of readdirSync(join(root, 'packages')).map((name) => `packages/${name}/node_modules`))
      if (existsSync(join(root, folder))) this.#link(folder);
  }

  read(path: string): string {
    return readFileSync(join(this.#folder, path), 'utf8');
  }

  /** Runs a command in the copy. @throws Error with its output if it fails */
  run(command: string, ...args: string[]): string {
    try {
      return execFileSync(command, args, { cwd: this.#folder, encoding: 'utf8', stdio: 'pipe', env });
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
    }
  }

  /** The edits of a recipe, which are counted under its name. */
  stepsOf(recipe: string): Steps {
    const countFile = (path: string): void =>
      void this.edited.set(recipe, (this.edited.get(recipe) ?? new Set()).add(path));
    return {
      countFile,
      edit: (path, behind, added) => {
        const parts = this.read(path).split(behind);
        expect(parts.length, `${path} has ${behind} once`).toBe(2);
        writeFileSync(join(this.#folder, path), parts.join(behind + added));
        countFile(path);
      },
      append: (path, added) => {
        appendFileSync(join(this.#folder, path), added);
        countFile(path);
      },
      create: (path, text) => {
        expect(existsSync(join(this.#folder, path)), `${path} exists`).toBe(false);
        mkdirSync(dirname(join(this.#folder, path)), { recursive: true });
        writeFileSync(join(this.#folder, path), text);
        countFile(path);
      },
      migrate: (name, statement) => {
        const folder = 'packages/server/migrations';
        const migrations = (): string[] => readdirSync(join(this.#folder, folder));
        const before = migrations();
        this.run('npm', 'run', '--silent', 'migration', '--', `--name=${name}`);
        const added = migrations().filter((file) => !before.includes(file));
        expect(added).toEqual([expect.stringMatching(new RegExp(`^\\d{4}_${name}\\.sql$`))]);
        expect(this.read(`${folder}/${added[0] ?? ''}`).trim()).toBe(statement);
      },
    };
  }

  /** Files of the repository that commands changed or deleted, and no recipe. */
  generated(): string[] {
    const byHand = new Set([...this.edited.values()].flatMap((paths) => [...paths]));
    // A migration replaces the snapshot of the one before.
    const isChanged = ([path, text]: readonly [string, string]): boolean =>
      !existsSync(join(this.#folder, path)) || this.read(path) !== text;
    return [...this.#original]
      .filter(isChanged)
      .map(([path]) => path)
      .filter((path) => !byHand.has(path));
  }

  delete(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #link(path: string): void {
    symlinkSync(join(root, path), join(this.#folder, path));
  }
}

/** Without the variables of the run that this test is part of: the copy has a run of its own. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST$|NODE_ENV$)/.test(name)),
);

const listed = (): ReadonlySet<string> => {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const paths = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0');
  // A file that was deleted and not committed yet is still listed.
  return new Set(paths.filter((path) => path !== '' && existsSync(join(root, path))));
};
