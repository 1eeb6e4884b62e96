import { cpus } from 'node:os';
import type { Measured } from './measure.ts';
import type { StatementCount } from './statements.ts';

/** What a run found, as a table for the reader and as JSON for `npm run capacity`. */
export interface Row extends Partial<Measured> {
  readonly row: string;
  readonly what: string;
  readonly goal?: Goal;
}

/** A promise of speed is a ratio to something measured in the same run, or a bound on one figure. */
export interface Goal {
  readonly what: string;
  readonly value: number;
  readonly against?: string;
  readonly unit: '' | ' ms' | ' MB' | ' /s';
  readonly bound: number;
  readonly is: 'at least' | 'at most';
}

/** The same load at several sizes of what it is put to. */
export interface Series {
  readonly series: string;
  readonly size: string;
  readonly points: readonly (Measured & { readonly size: number })[];
}

export interface Run {
  readonly machine: {
    readonly cores: number;
    readonly processor: string;
    readonly node: string;
    readonly postgres: string;
  };
  readonly pace: string;
  readonly rows: readonly Row[];
  readonly series: readonly Series[];
  readonly statements: readonly StatementCount[];
}

export const machine = (postgres: string): Run['machine'] => ({
  cores: cpus().length,
  processor: cpus()[0]?.model ?? 'unknown',
  node: process.version,
  postgres,
});

export const isMet = ({ value, bound, is }: Goal): boolean =>
  is === 'at least' ? value >= bound : value <= bound;

export const rounded = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

export const rowCells = ({ what, perSecond, p50, p99, cpuMicros, databaseCpuMicros }: Row): string[] =>
  perSecond === undefined
    ? [what, '', '', '', '', '']
    : [
        what,
        rounded(perSecond),
        `${rounded(p50 ?? 0)} ms`,
        `${rounded(p99 ?? 0)} ms`,
        `${rounded(cpuMicros ?? 0)} µs`,
        typeof databaseCpuMicros !== 'number' ? '' : `${rounded(databaseCpuMicros)} µs`,
      ];

export const rowHead = ['what', 'per second', 'p50', 'p99', 'CPU of the service', 'CPU of PostgreSQL'];

export const goalCells = (goal: Goal): string[] => [
  goal.what,
  goal.against ?? '',
  `${goal.value >= 100 ? rounded(goal.value) : goal.value.toFixed(2)}${goal.unit}`,
  `${goal.is} ${goal.bound}${goal.unit}`,
  isMet(goal) ? 'met' : 'missed',
];

export const goalHead = ['goal', 'against', 'found', 'promised', ''];

export const statementHead = [
  'statements of a call, known caller and scope',
  'in all',
  'begin, commit',
  'promised of the rest',
];

export const statementCells = ({ operation, statements, framing, most }: StatementCount): string[] => [
  operation,
  String(statements),
  String(framing),
  most === undefined ? '' : `at most ${most}`,
];

export const goalsOf = ({ rows }: Run): Goal[] => rows.flatMap(({ goal }) => (goal ? [goal] : []));

const aligned = (lines: readonly (readonly string[])[]): string => {
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const padded = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return padded.map((line) => line.trimEnd()).join('\n');
};

export function asText(run: Run): string {
  const measured = run.rows.filter(({ perSecond }) => perSecond !== undefined);
  const series = run.series.flatMap(({ series, size, points }) =>
    points.map((point) =>
      rowCells({ ...point, row: series, what: `${series}: ${rounded(point.size)} ${size}` }),
    ),
  );
  return [
    `${run.machine.cores} cores of ${run.machine.processor}, shared by load, service and PostgreSQL unless a row says one core; ${run.pace}`,
    aligned([rowHead, ...measured.map(rowCells), ...series]),
    aligned([statementHead, ...run.statements.map(statementCells)]),
    aligned([goalHead, ...goalsOf(run).map(goalCells)]),
  ].join('\n\n');
}
