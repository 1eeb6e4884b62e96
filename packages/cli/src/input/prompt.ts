import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { usageFault } from '../fault.ts';
import type { Run } from '../run.ts';

/* Prompts go to stderr, so that stdout contains only results. Ctrl-C cancels a prompt. */

type Asking = Pick<Run, 'stdin' | 'stderr' | 'signal' | 'interrupt'>;

/** Asks a question, and returns the answer without surrounding whitespace. */
export async function askText(run: Asking, question: string): Promise<string> {
  const { stdin, stderr, signal } = run;
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    // During a prompt, Ctrl-C arrives as a key and not as a signal.
    lines.once('SIGINT', run.interrupt);
    return (await lines.question(question, { signal })).trim();
  } finally {
    lines.close();
  }
}

/** Asks for a secret without showing what is typed. */
export async function askSecret(run: Asking, question: string): Promise<string> {
  const { stdin, stderr, signal } = run;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Creating the interface turns off the echo of the terminal, so it comes before the question.
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  try {
    stderr.write(question);
    lines.once('SIGINT', run.interrupt);
    return (await lines.question('', { signal })).trim();
  } finally {
    lines.close();
    stderr.write('\n');
  }
}

/** Reads a secret from a hidden prompt, or from stdin if there is no terminal. */
export async function readSecret(run: Run, name: string): Promise<string> {
  const text = run.terminal.canAsk ? await askSecret(run, `${name}: `) : (await readStdin(run)).trim();
  if (text === '' || /\s/.test(text)) throw usageFault(`${name} is missing.`, 'type it, or pipe it in');
  return text;
}

/** Reads standard input to its end. */
export async function readStdin({ stdin }: Pick<Run, 'stdin'>): Promise<string> {
  stdin.setEncoding('utf8');
  let text = '';
  for await (const part of stdin) text += String(part);
  return text;
}
