/** The exit code and output of a run. */
export interface Ended {
  readonly code: number | null;
  /** On a terminal: both streams, as they appear on the screen. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Removes the spinner, which only appears when the service is slow. */
const withoutSpinner = (text: string): string => text.replace(/(?:\r[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏])+\r\u001b\[K/g, '');

/** Collects the output of a run. */
export class RecordedOutput {
  readonly #texts = { stdout: '', stderr: '' };
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;

  add(stream: 'stdout' | 'stderr', text: string): void {
    this.#texts[stream] += text;
    this.#waiting.forEach((look) => look());
  }

  end(code: number | null): Ended {
    this.#hasEnded = true;
    this.#waiting.forEach((look) => look());
    return { code, stdout: withoutSpinner(this.#texts.stdout), stderr: this.#texts.stderr };
  }

  /** Resolves when the output matches the pattern. @throws Error if the run ends without a match */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const { stdout, stderr } = this.#texts;
        const match = pattern.exec(stdout) ?? pattern.exec(stderr);
        if (match) resolve(match);
        else if (this.#hasEnded) reject(new Error(`it ended without ${pattern}:\n${stdout}${stderr}`));
        else return;
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
      look();
    });
  }
}
