import { type Command, CommanderError } from 'commander';
import { ConfigurationError, RaindropError } from '@raindrop/core';
import { EXIT_CODES, type ExitCode, InputError } from './input-error.js';
import { CliOutput, type CliStreams, InterruptedError, Interruption } from './io/cli-output.js';
import { withoutSecrets } from './io/text.js';
import { namesGiven, withoutCode } from './options/option-flags.js';
import { program } from './program.js';
import { connectionCure } from './service/connection-cures.js';

/**
 * Runs the command and answers with its exit code. SIGINT and SIGTERM end it early; a worker id that it holds is given
 * back before.
 * @param args without the program's name
 */
export async function runCli(args: readonly string[], streams: CliStreams): Promise<ExitCode> {
  const interruption = new Interruption(streams);
  let output = new CliOutput(streams, args.includes('--json'), interruption);
  let code: ExitCode = EXIT_CODES.done;
  const root = program(async (work, given, flags, command) => {
    output = new CliOutput(streams, flags['json'] === true, interruption, namesGiven(command));
    code = (await interruption.race(work(given, flags, output))) ?? EXIT_CODES.done;
  });
  const help: string[] = [];
  try {
    await quiet(root, help).parseAsync(argumentsOf(args, root), { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError && error.exitCode === 0))
      return report(reasonOf(error, interruption), output);
    // A help or a version that was asked for is a result, and goes to stdout.
    return await output.write(help.join('')).then(
      () => EXIT_CODES.done,
      (failure: unknown) => report(failure, output),
    );
  } finally {
    interruption.stop();
  }
}

/** What commander parses: without a command the help, and the error of an unknown command also for its help. */
function argumentsOf(args: readonly string[], root: Command): readonly string[] {
  const [first, name] = args;
  if (first === undefined) return ['--help'];
  const isCommand = ['help', ...root.commands.map((each) => each.name())].includes(name ?? 'help');
  return first === 'help' && !isCommand && !name!.startsWith('-') ? args.slice(1) : args;
}

/** Makes commander throw its errors and keep its help, in place of printing both. */
function quiet(root: Command, help: string[]): Command {
  for (const each of [root, ...root.commands]) {
    each.exitOverride().configureOutput({ writeOut: (text) => void help.push(text), writeErr: () => undefined });
  }
  return root;
}

/** The interruption, when there was one: the error may be a consequence of it. */
function reasonOf(error: unknown, { signal }: Interruption): unknown {
  return signal.aborted ? signal.reason : error;
}

function report(error: unknown, output: CliOutput): ExitCode {
  if (error instanceof InterruptedError) {
    if (error.exitCode === EXIT_CODES.done) return error.exitCode;
    if (output.isJson) output.error('CLI_COMMAND_FAILED', error.message, []);
    else output.note(error.message);
    return error.exitCode;
  }
  if (error instanceof CommanderError) {
    const isBare = error.code === 'commander.help';
    tell(output, 'CLI_INPUT', isBare ? 'no command given: raindrop --help lists them' : withoutPrefix(error), []);
    return EXIT_CODES.input;
  }
  if (error instanceof ConfigurationError) {
    tell(output, error.errorCode, 'invalid options:', problemsOf(error, output));
    return EXIT_CODES.input;
  }
  if (error instanceof InputError) {
    tell(output, error.errorCode, error.message.split('\n', 1)[0]!, error.problems);
    return EXIT_CODES.input;
  }
  const { message, errorCode } = error as Partial<RaindropError>;
  const cure = connectionCure(error);
  const problems = cure === undefined ? [] : [output.inNamesGiven(cure)];
  tell(output, errorCode ?? 'UNEXPECTED', output.inNamesGiven(message || String(error)), problems);
  return EXIT_CODES.failed;
}

function withoutPrefix({ message }: CommanderError): string {
  return message.replace(/^error: /, '');
}

/** The problems of options, as the user named them: `--worker-bits 2`, `RAINDROP_WORKER_BITS = 2`, `workIdLength = 2`. */
function problemsOf({ problems }: ConfigurationError, output: CliOutput): string[] {
  return problems.map(({ option, given, message }) => {
    const name = output.nameOf(option);
    // A file may hold what a text cannot be.
    const said = output.inNamesGiven(name === option ? message : withoutCode(message));
    if (given === 'undefined') return `${name} ${said}`;
    return `${name}${name.startsWith('--') ? '' : ' ='} ${given}: ${said}`;
  });
}

function tell(output: CliOutput, code: string, message: string, problems: readonly string[]): void {
  output.error(code, withoutSecrets(message), problems.map(withoutSecrets));
}
