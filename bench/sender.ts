/**
 * Sends a load from a separate process, so that the bench neither delays it nor counts its cost. It reads one task from
 * standard input, prints `sent` when everything is sent, and then its report as one line of JSON.
 *
 * Autocannon does not fit here: it can neither send on a schedule that ignores answers nor many requests at one moment, and
 * it rebuilds each varied request, which takes much of a core that the service needs.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantilesOf, type Quantiles } from './figures.ts';

export interface Task {
  /** Connections are distributed over these ports. */
  readonly ports: readonly number[];
  /** Complete HTTP requests, sent alternately. `{n}` becomes a unique number of ten digits. */
  readonly requests: readonly string[];
  /**
   * closed: each connection sends again after its answer. open: `perSecond` requests, whether or not others were answered.
   * burst: each connection sends once, all at one moment. refresh: closed, and each answer contains the next tokens.
   */
  readonly kind: 'closed' | 'open' | 'burst' | 'refresh';
  readonly connections: number;
  readonly seconds: number;
  readonly perSecond?: number;
}

export interface Report {
  /** Answers by status; `lost`: no answer, `late`: no answer within 30 seconds. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Milliseconds from when a request was due to its complete answer: refusals (429, 503), and other answers. */
  readonly served: Quantiles;
  readonly refused: Quantiles;
  readonly slowest: number;
  /** Requests that were due while all connections waited for answers. */
  readonly unsent: number;
  /** When the last successful request was sent, in milliseconds of `Date.now`. */
  readonly lastSuccessSentAt: number;
}

const TIMEOUT_MS = 30_000;
const task = JSON.parse(await read()) as Task;
const templates = task.requests.map((text) => ({ bytes: Buffer.from(text), number: text.indexOf('{n}') }));
// Numbers start at the clock, so that a later load does not repeat numbers of an earlier one.
const firstNumber = (Date.now() % 1e7) * 1000;
const statuses: Record<string, number> = {};
const [served, refused, failed]: [number[], number[], number[]] = [[], [], []];
const idle: Socket[] = [];
const dues = new Map<Socket, number>();
let [opened, turn, unsent, lastSuccessSentAt, isOver] = [0, 0, 0, 0, false];

function nextRequest(): Buffer {
  const template = templates[turn % templates.length];
  if (!template) throw new Error('a task has at least one request');
  const number = String((firstNumber + turn++) % 1e10).padStart(10, '0');
  if (template.number < 0) return template.bytes;
  const bytes = Buffer.from(template.bytes);
  bytes.write(number, template.number);
  return bytes;
}

function send(socket: Socket, due: number, request = nextRequest()): void {
  dues.set(socket, due);
  if (socket.destroyed) settle(socket, 'lost');
  else socket.write(request);
}

/** The next refresh, with the tokens of the last answer. */
function refreshRequest(answer: string, head: number): Buffer {
  const { data } = JSON.parse(answer.slice(head + 4)) as { data: Record<string, unknown> };
  const { accessToken, refreshToken } = data;
  const body = JSON.stringify({ accessToken, refreshToken });
  const lines = (task.requests[0] ?? '').split('\r\n\r\n')[0] ?? '';
  return Buffer.from(`${lines.replace(/(content-length: )\d+/, `$1${body.length}`)}\r\n\r\n${body}`);
}

async function open(): Promise<Socket> {
  const socket = connect(task.ports[opened++ % task.ports.length] ?? 0, '127.0.0.1');
  socket.setNoDelay(true);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    // The server closes an idle connection with an answer that belongs to no request.
    if (!dues.has(socket)) return;
    text += chunk.toString('latin1');
    const head = text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const headers = text.slice(0, head);
    const length = /\r\ncontent-length: (\d+)/i.exec(headers)?.[1];
    const isWhole =
      length === undefined && /\r\ntransfer-encoding: chunked/i.test(headers)
        ? text.endsWith('\r\n0\r\n\r\n')
        : text.length >= head + 4 + Number(length ?? 0);
    if (!isWhole) return;
    const [answer, status] = [text, text.slice(9, 12)];
    text = '';
    settle(socket, status);
    if (isOver || task.kind === 'burst') socket.destroy();
    else if (task.kind === 'open') idle.push(socket);
    else if (task.kind === 'closed') send(socket, performance.now());
    else if (status === '200') send(socket, performance.now(), refreshRequest(answer, head));
    else socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    const position = idle.indexOf(socket);
    if (position >= 0) idle.splice(position, 1);
    settle(socket, 'lost');
    opened--;
    if (task.kind === 'closed' && !isOver) void reopen();
  });
  await once(socket, 'connect').catch(() => undefined);
  return socket;
}

/** Waits a moment before it opens a connection, because the service has just refused one. */
async function reopen(): Promise<void> {
  await sleep(50);
  if (!isOver) send(await open(), performance.now());
}

function settle(socket: Socket, status: string): void {
  const due = dues.get(socket);
  if (due === undefined) return;
  dues.delete(socket);
  const ms = performance.now() - due;
  statuses[status] = (statuses[status] ?? 0) + 1;
  if (status === '503' || status === '429') refused.push(ms);
  else if (/^[234]/.test(status)) served.push(ms);
  else failed.push(ms);
  if (status.startsWith('2')) lastSuccessSentAt = Math.max(lastSuccessSentAt, Date.now() - ms);
}

const giveUp = (): void => {
  const patience = performance.now() - TIMEOUT_MS;
  for (const [socket, due] of dues) {
    if (due > patience) continue;
    settle(socket, 'late');
    socket.destroy();
  }
};

// Connections are opened before the load starts. An open loop opens more when it needs them.
const sockets: Socket[] = [];
const first = task.kind === 'open' ? Math.min(task.connections, 500) : task.connections;
while (sockets.length < first) sockets.push(await open());
const sweep = setInterval(giveUp, 500);
const began = performance.now();
if (task.kind === 'open') {
  idle.push(...sockets);
  const gap = 1000 / (task.perSecond ?? 1);
  for (let due = began; due < began + task.seconds * 1000; due += gap) {
    while (due > performance.now()) await sleep(1);
    // The connection that was idle longest, because the server closes unused ones.
    const socket = idle.shift();
    if (socket) send(socket, due);
    else if (opened < task.connections) void open().then((next) => send(next, due));
    else unsent++;
  }
} else {
  const requests = sockets.map(() => nextRequest());
  sockets.forEach((socket, position) => send(socket, performance.now(), requests[position]));
  await sleep(task.seconds * 1000);
}
isOver = true;
await print('sent');
while (dues.size > 0) await sleep(5);
clearInterval(sweep);
const report: Report = {
  statuses,
  served: quantilesOf(served),
  refused: quantilesOf(refused),
  slowest: quantilesOf([...served, ...refused, ...failed]).max,
  unsent,
  lastSuccessSentAt,
};
await print(JSON.stringify(report));
process.exit(0);

async function print(line: string): Promise<void> {
  await new Promise((written) => process.stdout.write(`${line}\n`, written));
}

async function read(): Promise<string> {
  let text = '';
  process.stdin.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(process.stdin, 'end');
  return text;
}
