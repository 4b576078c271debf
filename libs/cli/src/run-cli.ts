import { type Command, CommanderError } from 'commander';
import { ConfigurationError, RaindropError } from '@raindrop/core';
import { EXIT_CODES, type ExitCode, InputError } from './input-error.js';
import { CliOutput, type CliStreams, InterruptedError, Interruption } from './io/cli-output.js';
import { withoutSecrets } from './io/text.js';
import { flagOf } from './options/option-flags.js';
import { program } from './program.js';

/**
 * Runs the command and answers with its exit code. SIGINT and SIGTERM end it early; a worker id that it holds is given
 * back before.
 * @param args without the program's name
 */
export async function runCli(args: readonly string[], streams: CliStreams): Promise<ExitCode> {
  const interruption = new Interruption(streams);
  let output = new CliOutput(streams, args.includes('--json'), interruption);
  let code: ExitCode = EXIT_CODES.done;
  const root = program(async (work, given, flags) => {
    output = new CliOutput(streams, flags['json'] === true, interruption);
    code = (await interruption.race(work(given, flags, output))) ?? EXIT_CODES.done;
  });
  const help: string[] = [];
  try {
    // Without a command the help is printed.
    await quiet(root, help).parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
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
    tell(output, 'CLI_INPUT', isBare ? 'which command? raindrop --help shows what there is' : withoutPrefix(error), []);
    return EXIT_CODES.input;
  }
  if (error instanceof ConfigurationError) {
    tell(output, error.errorCode, 'this cannot work:', problemsOf(error));
    return EXIT_CODES.input;
  }
  if (error instanceof InputError) {
    tell(output, error.errorCode, error.message.split('\n', 1)[0]!, error.problems);
    return EXIT_CODES.input;
  }
  const { message, errorCode } = error as Partial<RaindropError>;
  tell(output, errorCode ?? 'UNEXPECTED', message || String(error), []);
  return EXIT_CODES.failed;
}

function withoutPrefix({ message }: CommanderError): string {
  return message.replace(/^error: /, '');
}

/** The problems of options, by the names of their flags where they have one. */
function problemsOf({ problems }: ConfigurationError): string[] {
  return problems.map(({ option, given, message }) => {
    const flag = flagOf(option);
    const name = flag === undefined ? option : `${flag} (${option})`;
    // Every value on a command line is a text.
    return `${name} = ${given}: ${message.replace(', not a string: use Number(...)', '')}`;
  });
}

function tell(output: CliOutput, code: string, message: string, problems: readonly string[]): void {
  output.error(code, withoutSecrets(message), problems.map(withoutSecrets));
}
