import { run, type Ended } from '../../support/processes/run.js';
import { shellCommands, type ShellCommand } from './shell-commands.js';
import { shellPlaceOf, type ShellPlace } from './shell-places.js';

/** Runs a command line as a reader's shell does, and waits for its end. */
export function runShell(
  command: string,
  cwd: string,
  environment: NodeJS.ProcessEnv = {},
  withinMs?: number,
): Promise<Ended> {
  return run(['bash', '-c', command], { cwd, environment, withinMs });
}

/** The commands that are run in one of the ways, by document. */
export function commandsBy(by: ShellPlace['by']): [document: string, commands: ShellCommand[]][] {
  const commands = shellCommands().filter((each) => shellPlaceOf(each)?.by === by);
  const documents = [...new Set(commands.map(({ document }) => document))];
  return documents.map((document) => [document, commands.filter((each) => each.document === document)]);
}
