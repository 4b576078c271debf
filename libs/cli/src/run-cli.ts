import { ConfigurationError, RaindropError } from '@raindrop/core';
import { CommanderError, type Command } from 'commander';
import { EXIT_CODES, type ExitCode } from './exit-codes.js';
import { InputError } from './input-error.js';
import { CliOutput, toJson, type CliStreams } from './io/cli-output.js';
import { InterruptedError, Interruption } from './io/interruption.js';
import { flagOf } from './options/option-flags.js';
import { program } from './program.js';

/**
 * Runs the command and answers with its exit code. Signals end it early; what it holds is given back first.
 * @param args without the program's name
 */
export async function runCli(args: readonly string[], streams: CliStreams): Promise<ExitCode> {
  const interruption = new Interruption(streams.stdout);
  let output = new CliOutput(streams, args.includes('--json'), interruption);
  let code: ExitCode = EXIT_CODES.done;
  const root = program(async (work, given, flags) => {
    output = new CliOutput(streams, flags['json'] === true, interruption);
    code = (await work(given, flags, output)) ?? EXIT_CODES.done;
  });
  try {
    await quiet(root, output).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return report(interruption.signal.aborted ? interruption.signal.reason : error, output);
  } finally {
    interruption.stop();
  }
}

/** Errors are thrown and reported here; help goes to stdout. */
function quiet(root: Command, output: CliOutput): Command {
  for (const each of [root, ...root.commands]) {
    each.exitOverride().configureOutput({
      writeOut: (text) => void output.write(text),
      writeErr: () => undefined,
    });
  }
  return root;
}

function report(error: unknown, output: CliOutput): ExitCode {
  if (error instanceof InterruptedError) {
    if (error.exitCode !== EXIT_CODES.done) output.note(error.message);
    return error.exitCode;
  }
  if (error instanceof CommanderError) {
    // Help that was asked for is a result.
    if (error.exitCode === 0) return EXIT_CODES.done;
    const isBare = error.code === 'commander.help';
    tell(output, 'CLI_INPUT', isBare ? 'which command? raindrop --help shows what there is' : plainly(error), []);
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
  tell(output, errorCode ?? 'UNEXPECTED', message ?? String(error), []);
  return EXIT_CODES.failed;
}

function plainly({ message }: CommanderError): string {
  return message.replace(/^error: /, '');
}

/** By the names of the flags, where there are flags. */
function problemsOf({ problems }: ConfigurationError): string[] {
  return problems.map(({ option, given, message }) => {
    const flag = flagOf(option);
    const name = flag === undefined ? option : `${flag} (${option})`;
    // On a command line everything is text.
    return `${name} = ${given}: ${message.replace(', not a string: use Number(...)', '')}`;
  });
}

function tell(output: CliOutput, code: string, text: string, found: readonly string[]): void {
  const [message, problems] = [withoutSecrets(text), found.map(withoutSecrets)];
  if (output.isJson) return output.note(toJson({ error: { code, message, problems } }));
  const lines = [`${output.onStderr('red', 'error:')} ${message}`, ...problems.map((each) => `  - ${each}`)];
  output.note(lines.join('\n'));
}

/** A URL that was mistyped may be quoted in a message, with the password in it. */
function withoutSecrets(text: string): string {
  return text.replace(/:\/\/\S*@/g, '://***@');
}
