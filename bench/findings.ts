import type { Measured } from './load.ts';
import { milliseconds } from './figures.ts';

/** A row of the table of `npm run bench`: what was measured, the decisive figure, and its goal. */
export interface Finding extends Partial<Measured> {
  readonly what: string;
  readonly value: number;
  /** The unit of the figure: requests per second, milliseconds, megabytes, or a ratio to something. */
  readonly unit: '/s' | 'ms' | 'MB' | `of ${string}` | `× ${string}`;
  readonly is?: '≥' | '≤';
  readonly goal?: number;
}

export const isMet = ({ value, is, goal }: Finding): boolean | null =>
  goal === undefined ? null : is === '≤' ? value <= goal : value >= goal;

const rounded = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

const written = (value: number, unit: Finding['unit']): string => {
  if (unit === '/s') return `${rounded(value)}/s`;
  if (unit === 'ms' || unit === 'MB') return `${Math.round(value)} ${unit}`;
  return unit.startsWith('×') ? `${value.toFixed(2)} ${unit}` : `${value.toFixed(2)} ${unit}`;
};

export const findingHead = [
  'what',
  'figure',
  'goal',
  '',
  'per second',
  'p50',
  'p99',
  'CPU service',
  'CPU PostgreSQL',
  'failed',
];

export function findingCells(finding: Finding): string[] {
  const { what, value, unit, is, goal, perSecond, p50, p99, cpuMicros, databaseCpuMicros, failed } = finding;
  const met = isMet(finding);
  return [
    what,
    written(value, unit),
    goal === undefined ? '' : `${is} ${/^(of|×)/.test(unit) ? goal.toFixed(2) : written(goal, unit)}`,
    met === null ? '' : met ? 'met' : 'missed',
    perSecond === undefined ? '' : rounded(perSecond),
    p50 === undefined ? '' : milliseconds(p50),
    p99 === undefined ? '' : milliseconds(p99),
    cpuMicros === undefined ? '' : `${rounded(cpuMicros)} µs`,
    typeof databaseCpuMicros !== 'number' ? '' : `${rounded(databaseCpuMicros)} µs`,
    failed === undefined ? '' : `${(failed * 100).toFixed(failed > 0 && failed < 0.01 ? 2 : 0)} %`,
  ];
}
