import { Command as Program, CommanderError, Option } from 'commander';
import type { Command } from './command.ts';
import { Options } from './settings/options.ts';
import { usageFault } from './fault.ts';
import type { Output } from './environment/io.ts';
import { globalOptions } from './settings/flags.ts';

/** The command that the user chose, with its arguments and options. */
interface Invocation {
  readonly command: Command;
  readonly args: readonly string[];
  readonly options: Options;
}

interface ProgramParts {
  readonly commands: readonly Command[];
  /** Summaries of words that only group other commands. */
  readonly groups: Readonly<Record<string, string>>;
  readonly version: () => string;
  /** The stream that help and version are printed to. */
  readonly stdout: Output;
}

/** Builds the parser for all declared commands. */
function buildProgram(
  { commands, groups, stdout }: Omit<ProgramParts, 'version'>,
  choose: (invocation: Invocation) => void,
): Program {
  const program = new Program('doorward')
    .description('The command line of Doorward.')
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: () => undefined,
      getOutHelpWidth: () => stdout.columns ?? 80,
    })
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .exitOverride()
    .helpCommand('help [command]', 'help of a command');
  for (const [flags, about] of Object.entries(globalOptions)) program.addOption(new Option(flags, about));
  program.helpOption('-h, --help', 'help of a command');
  for (const command of commands) addCommand(parentOf(program, command, groups), command, choose);
  return program;
}

function parentOf(program: Program, { path }: Command, groups: ProgramParts['groups']): Program {
  let parent = program;
  for (const word of path.slice(0, -1)) {
    parent =
      parent.commands.find((child) => child.name() === word) ??
      parent
        .command(word)
        .summary(groups[word] ?? '')
        .description(groups[word] ?? '');
  }
  return parent;
}

function addCommand(parent: Program, command: Command, choose: (invocation: Invocation) => void): void {
  const { path, summary, description, examples = [] } = command;
  const name = path.at(-1) ?? '';
  const child =
    parent.commands.find((existing) => existing.name() === name) ??
    parent.command(name, { hidden: summary === '' });
  child.summary(summary).description(description ? `${summary}\n\n${description}` : summary);
  for (const [argument, about] of Object.entries(command.arguments ?? {})) child.argument(argument, about);
  for (const [flags, about] of Object.entries(command.options ?? {})) child.addOption(optionOf(flags, about));
  if (examples.length > 0)
    child.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
  child.action((...given: unknown[]) => {
    const args = given
      .slice(0, -2)
      .filter((value) => typeof value === 'string' || Array.isArray(value))
      .flat() as string[];
    choose({ command, args, options: new Options(child.optsWithGlobals()) });
  });
}

/** Creates an option. `...` in the flags means that the option can be repeated, with one value each time. */
function optionOf(flags: string, about: string): Option {
  const option = new Option(flags.replace('...', ''), about);
  if (flags.includes('...'))
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  return option;
}

/**
 * Parses a command line.
 * @returns null if help or the version was printed.
 * @throws Fault for invalid commands or flags
 */
export async function parse(argv: readonly string[], parts: ProgramParts): Promise<Invocation | null> {
  let invocation: Invocation | null = null;
  const program = buildProgram(parts, (chosen) => (invocation = chosen));
  if (argv.some((word) => word === '-V' || word === '--version'))
    program.version(parts.version(), '-V, --version', 'the version');
  else program.addOption(new Option('-V, --version', 'the version'));
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return null;
    const help = `${deepestOf(program, argv)} --help`;
    if (error.code === 'commander.help') throw usageFault('Which command?', `${help} lists them`);
    const [message = '', ...hints] = error.message.replace(/^error: /, '').split('\n');
    const hint = /\(Did you mean (.+)\?\)/s.exec(hints.join(' '))?.[1];
    throw usageFault(
      `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
      hint === undefined ? `${help} lists what there is` : `did you mean ${hint}?`,
    );
  }
  return invocation;
}

/** Returns the words of the most specific command that the line names, such as `doorward users`. */
function deepestOf(program: Program, argv: readonly string[]): string {
  const words = [program.name()];
  let deepest = program;
  for (const word of argv) {
    const child = deepest.commands.find((command) => command.name() === word);
    if (!child) continue;
    deepest = child;
    words.push(word);
  }
  return words.join(' ');
}
