import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { backends, build, root, withService, type Backend, type Service } from './service.ts';

/** The command-line options that the benches share. */
export interface Options {
  /** `--dir`: the checkout whose service is measured; default: this one. */
  readonly dir: string;
  readonly quick: boolean;
  readonly busy: boolean;
  readonly backends: readonly Backend[];
  readonly wants: (row: string) => boolean;
  /** The value of a numeric option. */
  readonly number: (name: 'rows' | 'seconds' | 'times', otherwise: number) => number;
  /** Writes the raw figures to bench/results, or to the file of `--json`. */
  readonly write: (tool: string, figures: object) => Promise<void>;
}

export function readOptions(): Options {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      dir: text,
      json: text,
      only: text,
      on: text,
      rows: text,
      seconds: text,
      times: text,
      quick: flag,
      busy: flag,
    },
  });
  const { only, on, json, quick, busy } = values;
  const dir = resolve(values.dir ?? root);
  const began = new Date();
  return {
    dir,
    quick,
    busy,
    backends: backends.filter((backend) => on === undefined || backend.toLowerCase() === on.toLowerCase()),
    wants: (row) => only?.split(',').includes(row) ?? true,
    number: (name, otherwise) => Number(values[name] ?? otherwise),
    async write(tool, figures) {
      const name = [tool, ...(busy ? ['busy'] : []), ...(quick ? ['quick'] : [])].join('-');
      const file = resolve(json ?? join(root, 'bench', 'results', `${name}.json`));
      const machine = { cores: cpus().length, processor: cpus()[0]?.model, node: process.version };
      const took = `${Math.round((Date.now() - began.getTime()) / 1000)} s`;
      await mkdir(dirname(file), { recursive: true });
      const run = {
        began: began.toISOString(),
        took,
        arguments: process.argv.slice(2),
        checkout: basename(dir),
        machine,
        ...figures,
      };
      await writeFile(file, `${JSON.stringify(run, null, 2)}\n`);
      say(`raw figures: ${file}`);
    },
  };
}

/** Runs `work` with a service on each backend, one after the other, with empty data. */
export async function onServices(
  options: Options,
  work: (backend: Backend, service: Service) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await build(options.dir);
  for (const backend of options.backends) {
    say(backend);
    await withService(options.dir, backend, (service) => work(backend, service), env);
  }
}

export const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Prints a Markdown table that is aligned for the terminal. */
export function printTable(title: string, lines: readonly (readonly string[])[]): void {
  const widths =
    lines[0]?.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const [head = '', ...rows] = lines.map(
    (line) => `| ${widths.map((width, column) => (line[column] ?? '').padEnd(width)).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  process.stdout.write(`\n${title}\n\n${[head, rule, ...rows].join('\n')}\n`);
}
