import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { median, successesOf } from './figures.ts';
import type { Report, Task } from './sender.ts';
import { buildScript, spawnChild, sql } from './service.ts';

/** A load that is being sent. */
export interface Sending {
  /** Resolves when everything is sent; answers may still be missing. */
  readonly sent: Promise<void>;
  readonly report: Promise<Report>;
}

let script: Promise<string> | undefined;

/** Sends a load from a separate process. */
export async function send(task: Task): Promise<Sending> {
  const { child, output } = spawnChild(process.execPath, [await (script ??= buildScript('sender'))]);
  child.stdin.end(JSON.stringify(task));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const sent = lines.next().then(() => undefined);
  const report = sent.then(async () => {
    const line = await lines.next();
    if (line.done) throw new Error(`the sender ended without a report: ${output()}`);
    return JSON.parse(line.value) as Report;
  });
  return { sent, report };
}

export const sendAll = async (task: Task): Promise<Report> => (await send(task)).report;

interface RequestOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly method?: string;
  readonly headers?: readonly string[];
}

/** The text of an HTTP request. The sender replaces `{n}` in the body by a number of ten digits. */
export function request(path: string, { token, body, method, headers = [] }: RequestOptions): string {
  // The placeholder has ten bytes, so that `content-length` is right.
  const text = body === undefined ? '' : JSON.stringify(body).replaceAll('{n}', '{n}       ');
  const head = [
    `${method ?? (body === undefined ? 'GET' : 'POST')} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    ...headers,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(body === undefined
      ? []
      : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]),
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}

/** A load whose rate is measured, and the processes whose processor time is measured. */
export interface Load extends Pick<Task, 'ports' | 'requests'> {
  readonly kind?: Task['kind'];
  readonly connections: number;
  readonly pids: readonly number[];
  readonly databaseUrl: string | null;
}

export interface Measured {
  /** Successful answers per second. */
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of processor time for each answer. */
  readonly cpuMicros: number;
  readonly databaseCpuMicros: number | null;
  /** Share of the answers without success. */
  readonly failed: number;
  /** `perSecond` of each round. */
  readonly rates: readonly number[];
}

export interface Pace {
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUpSeconds: number;
}

/**
 * Measures loads alternately in rounds, so that other work of the machine affects all of them, and answers the medians of
 * the rounds. `eachRound` runs at the start of each round.
 */
export async function measure(
  loads: readonly Load[],
  { seconds, rounds, warmUpSeconds }: Pace,
  eachRound: () => Promise<void> = async () => undefined,
): Promise<Measured[]> {
  const all = loads.map((): Omit<Measured, 'rates'>[] => []);
  for (const load of loads) await fire(load, warmUpSeconds);
  for (let round = 0; round < rounds; round++) {
    await eachRound();
    for (const [index, load] of loads.entries()) all[index]?.push(await fire(load, seconds));
  }
  return all.map((each, index) => {
    const middle = (name: 'perSecond' | 'p50' | 'p99' | 'cpuMicros' | 'databaseCpuMicros' | 'failed') =>
      median(each.map((item) => item[name] ?? 0));
    return {
      perSecond: middle('perSecond'),
      p50: middle('p50'),
      p99: middle('p99'),
      cpuMicros: middle('cpuMicros'),
      databaseCpuMicros: loads[index]?.databaseUrl === null ? null : middle('databaseCpuMicros'),
      failed: middle('failed'),
      rates: each.map(({ perSecond }) => perSecond),
    };
  });
}

/** The median ratio of alternating rounds, in which the machine was equally busy for both. */
export const ratioOf = (measured: Measured, other: Measured): number =>
  median(measured.rates.map((rate, round) => rate / (other.rates[round] ?? rate)));

export async function fire(load: Load, seconds: number): Promise<Omit<Measured, 'rates'>> {
  const { ports, requests, connections, kind = 'closed', pids, databaseUrl } = load;
  const before = await spent(pids, databaseUrl);
  const { statuses, served } = await sendAll({ ports, requests, connections, kind, seconds });
  const after = await spent(pids, databaseUrl);
  const answers = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const successes = successesOf(statuses);
  if (successes === 0) throw new Error(`no request succeeded: ${JSON.stringify(statuses)}`);
  return {
    perSecond: successes / seconds,
    p50: served.p50,
    p99: served.p99,
    cpuMicros: ((after.service - before.service) * 1e6) / answers,
    databaseCpuMicros: databaseUrl === null ? null : ((after.database - before.database) * 1e6) / answers,
    failed: 1 - successes / answers,
  };
}

async function spent(pids: readonly number[], databaseUrl: string | null) {
  const sum = async (of: readonly number[]) =>
    (await Promise.all(of.map(cpuSeconds))).reduce((total, seconds) => total + seconds, 0);
  return {
    service: await sum(pids),
    database: await sum(databaseUrl === null ? [] : await connectionsOf(databaseUrl)),
  };
}

/** PostgreSQL processes of the connections to a database, without the connection of this query. */
async function connectionsOf(url: string): Promise<number[]> {
  const rows = await sql(
    url,
    `select pid from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return rows.map(({ pid }) => Number(pid));
}

/** Processor time in steps of 10 ms, as the kernel counts; 0 for a process that ended or runs on another machine. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in parentheses may contain blanks, so the fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/** Resident memory in MB, now and at its peak. */
export async function memoryOf(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
  return { now: of('VmRSS'), peak: of('VmHWM') };
}

/** Resets the peak of `memoryOf`. */
export const forgetPeak = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5');
