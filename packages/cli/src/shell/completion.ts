import type { Command } from '../command.ts';
import { usageFault } from '../fault.ts';
import { suggestion } from '../nearest.ts';
import type { Run } from '../run.ts';
import { colors, globalOptions } from '../settings/flags.ts';
import { operationNames } from './api.ts';
import { typedWords } from './typed-words.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof shells)[number];

/** The hidden command that the completion scripts call. It prints the words that can come next. */
const QUESTION = '__complete';

export function completionCommands(all: () => readonly Command[]): readonly Command[] {
  return [
    completion,
    {
      ...completeCommand,
      run: async (run, args) => run.terminal.raw((await candidates(run, all(), args)).join('\n')),
    },
  ];
}

const completion: Command = {
  path: ['completion'],
  summary: 'Print the completion script of a shell',
  arguments: { '<shell>': shells.join(', ') },
  examples: ['doorward completion bash > ~/.local/share/bash-completion/completions/doorward'],
  async run({ terminal }, [shell = '']) {
    const choice = shells.find((name) => name === shell);
    if (!choice) throw usageFault('There is no completion for this shell.', suggestion(shell, shells));
    terminal.raw(scripts[choice]);
  },
};

const completeCommand: Omit<Command, 'run'> = {
  path: [QUESTION],
  summary: '',
  arguments: { '[words...]': '' },
};

/** Returns the words that can complete the line. The last of `words` is the one that is being typed. */
async function candidates(
  run: Run,
  commands: readonly Command[],
  words: readonly string[],
): Promise<readonly string[]> {
  const current = words.at(-1) ?? '';
  const typed = typedWords(words.slice(0, -1), commands);
  const before = typed.words;
  const command = commands
    .filter(({ path }) => path.join(' ') === before.slice(0, path.length).join(' '))
    .sort((a, b) => b.path.length - a.path.length)[0];
  const starting = (all: readonly string[]) =>
    [...new Set(all)].filter((word) => word.startsWith(current)).sort();
  const ofService = async () =>
    starting(await (await import('./values.ts')).valuesOf(run, { typed, command, current }));
  if (typed.pending === '--profile')
    return starting(Object.keys((await run.settings.profiles.config()).profiles));
  if (typed.pending === '--color') return starting(colors);
  if (typed.pending !== null) return ofService();
  if (current.startsWith('-'))
    return starting([...flagsOf(globalOptions), ...flagsOf(command?.options ?? {}), '--help', '--version']);
  const next = commands
    .filter(
      ({ path }) =>
        path[0] !== QUESTION && before.every((word, at) => path[at] === word) && path.length > before.length,
    )
    .map(({ path }) => path[before.length] ?? '');
  if (next.length > 0) return starting(next);
  if (before.length === 1 && before[0] === 'api') return starting(await operationNames());
  if (before.length === 1 && before[0] === 'completion') return starting(shells);
  return ofService();
}

const flagsOf = (options: Readonly<Record<string, string>>): string[] =>
  Object.keys(options).flatMap((flags) => flags.match(/--[\w-]+/g) ?? []);

const scripts: Readonly<Record<Shell, string>> = {
  bash: `_doorward() {
  local IFS=$'\\n'
  COMPREPLY=($(doorward ${QUESTION} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _doorward doorward`,
  zsh: `#compdef doorward
_doorward() {
  local -a candidates
  candidates=("\${(@f)$(doorward ${QUESTION} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a candidates
}
compdef _doorward doorward`,
  fish: `complete -c doorward -f -a '(doorward ${QUESTION} -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
  powershell: `Register-ArgumentCompleter -Native -CommandName doorward -ScriptBlock {
  param($word, $ast, $cursor)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -eq '') { $words += '' }
  doorward ${QUESTION} -- @words 2>$null | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}`,
};
