import type { Command } from '../command.ts';
import { globalOptions } from '../settings/flags.ts';

/** The words of a command line that is being typed, without the last one, which is incomplete. */
export interface Typed {
  /** Commands and arguments. */
  readonly words: readonly string[];
  /** Values of flags, by the long name of the flag. */
  readonly values: Readonly<Record<string, string>>;
  /** Flags without a value. */
  readonly flags: readonly string[];
  /** The last flag, if its value comes next. */
  readonly pending: string | null;
}

/** Maps all flags that take a value to their long names: both `-s` and `--scope` to `--scope`. */
function valueFlags(commands: readonly Command[]): ReadonlyMap<string, string> {
  const declared = [globalOptions, ...commands.map(({ options = {} }) => options)].flatMap(Object.keys);
  return new Map(
    declared
      .filter((flags) => flags.includes('<'))
      .flatMap((flags) => {
        const names = flags.match(/(?<![\w-])--?[\w-]+/g) ?? [];
        return names.map((name): [string, string] => [name, names.at(-1) ?? name]);
      }),
  );
}

export function typedWords(before: readonly string[], commands: readonly Command[]): Typed {
  const takesValue = valueFlags(commands);
  const words: string[] = [];
  const flags: string[] = [];
  const values: Record<string, string> = {};
  let pending: string | null = null;
  for (const word of before) {
    if (pending !== null) {
      values[pending] = word;
      pending = null;
    } else if (!word.startsWith('-')) words.push(word);
    else {
      const [name = '', value] = word.split('=', 2);
      const long = takesValue.get(name);
      if (long === undefined) flags.push(word);
      else if (value === undefined) pending = long;
      else values[long] = value;
    }
  }
  return { words, flags, values, pending };
}
