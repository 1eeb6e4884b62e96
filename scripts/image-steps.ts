import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { userInfo } from 'node:os';
import { basename, join } from 'node:path';

/**
 * Runs the instructions of a Dockerfile without containers: a folder replaces the root of each stage, and each command runs
 * in it. The Node of this machine replaces the base image, and the current user replaces `node`. An unknown instruction
 * fails, so that none is skipped.
 */
export interface Image {
  /** Working directory of the last stage. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

interface Stage {
  readonly root: string;
  directory: string;
  env: Record<string, string>;
  command: readonly string[];
  healthCheck: readonly string[];
}

/** Instructions without effect here. */
const OUTSIDE = new Set(['USER', 'VOLUME', 'EXPOSE']);

export function runDockerfile(context: string, folder: string): Image {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const [instruction, rest] of instructionsOf(readFileSync(join(context, 'Dockerfile'), 'utf8'))) {
    if (instruction === 'FROM') {
      const name = /^\S+ AS (\w+)$/.exec(rest)?.[1] ?? `stage-${stages.size}`;
      const root = join(folder, name);
      mkdirSync(root, { recursive: true });
      stages.set(name, (stage = { root, directory: root, env: {}, command: [], healthCheck: [] }));
      continue;
    }
    if (!stage) throw new Error(`${instruction} stands before FROM`);
    step(stage, stages, context, instruction, rest);
  }
  if (!stage || stage.command.length === 0) throw new Error('the Dockerfile has no CMD');
  return stage;
}

/** The instructions of the file, with continued lines joined. */
function instructionsOf(text: string): [instruction: string, rest: string][] {
  return text
    .replaceAll(/^\s*#.*$/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, instruction = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      return [instruction, rest];
    });
}

function step(
  stage: Stage,
  stages: Map<string, Stage>,
  context: string,
  instruction: string,
  rest: string,
): void {
  const inStage = (path: string) => join(path.startsWith('/') ? stage.root : stage.directory, path);
  switch (instruction) {
    case 'WORKDIR':
      stage.directory = join(stage.root, rest);
      mkdirSync(stage.directory, { recursive: true });
      return;
    case 'ENV':
      for (const [, name = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) {
        // A path of the image becomes a path below the folder that replaces its root.
        stage.env[name] = value.startsWith('/') ? join(stage.root, value) : value;
      }
      return;
    case 'COPY': {
      const [, from, files = ''] = /^(?:--from=(\w+) )?([^-].*)$/.exec(rest) ?? [];
      const source = from === undefined ? context : stages.get(from)?.root;
      if (source === undefined || files === '') throw new Error(`COPY ${rest} is not understood`);
      const paths = files.split(/\s+/);
      const target = paths.pop() ?? '';
      const ignored = from === undefined ? ignoredBy(context) : () => false;
      for (const path of paths) copy(join(source, path), inStage(target), target, ignored);
      return;
    }
    case 'RUN':
      run(stage, rest);
      return;
    case 'HEALTHCHECK':
      stage.healthCheck = JSON.parse(rest.slice(rest.indexOf('['))) as string[];
      return;
    case 'CMD':
      stage.command = JSON.parse(rest) as string[];
      return;
    default:
      if (!OUTSIDE.has(instruction)) throw new Error(`the instruction ${instruction} is not understood`);
  }
}

/** Copies as COPY does: the content of a folder, or a file, below the target if that ends with a slash. */
function copy(source: string, target: string, written: string, ignored: (path: string) => boolean): void {
  if (!existsSync(source)) throw new Error(`COPY finds no ${source}`);
  if (statSync(source).isFile()) {
    cpSync(source, written.endsWith('/') ? join(target, basename(source)) : target);
    return;
  }
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source)) {
    const path = join(source, name);
    if (ignored(path)) continue;
    cpSync(path, join(target, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (inner) => !ignored(inner),
    });
  }
}

/** Supports the patterns that .dockerignore uses: names at the top, `*`, and `**` before a name. */
function ignoredBy(context: string): (path: string) => boolean {
  const patterns = readFileSync(join(context, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const name = line
        .replace(/^\*\*\//, '')
        .replaceAll('.', '\\.')
        .replaceAll('*', '[^/]*');
      return new RegExp(line.startsWith('**/') ? `(?:^|/)${name}$` : `^${name}(?:/|$)`);
    });
  return (path) => patterns.some((pattern) => pattern.test(path.slice(context.length + 1)));
}

function run({ root, directory, env }: Stage, command: string): void {
  const { username, gid } = userInfo();
  const here = command
    .replaceAll(/(?<=\s)\/(?=\w)/g, `${root}/`)
    .replaceAll(/-o node -g node/g, `-o ${username} -g ${gid}`);
  const { PATH = '', HOME = '' } = process.env;
  const { status } = spawnSync('sh', ['-ec', here], {
    cwd: directory,
    env: { PATH, HOME, ...env },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`RUN ${command} ended with ${status}`);
}
