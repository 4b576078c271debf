import { runShell } from '../../published/docs/run-shell.js';
import { shellCommands } from '../../published/docs/shell-commands.js';
import { differences } from '../../published/docs/shown-answer.js';

/** What is started in a process of its own, beside the built examples. */
interface Startable {
  readonly folder: string;
  start(folder: string, environment: Readonly<Record<string, string>>): Promise<{ readonly url: string }>;
}

/** Runs the commands of an example's README; `npm start` and `npm run demo` as the example starts. */
export async function answersAsShown(example: Startable, document: string): Promise<void> {
  const commands = shellCommands().filter((each) => each.document === document);
  expect(commands.length).toBeGreaterThan(1);
  const names = new Map<string, string>();
  const urls = new Map<string, string>();
  for (const { command, answer } of commands) {
    if (/npm (start|run demo)$/.test(command)) {
      const { PORT = '3000', ...environment } = variablesOf(command);
      const { url } = await example.start(example.folder, environment);
      urls.set(`http://127.0.0.1:${PORT}`, url);
      continue;
    }
    let line = command;
    for (const [shown, now] of [...urls, ...names]) line = line.replace(shown, now);
    const answered: unknown = JSON.parse((await runShell(line, example.folder)).stdout);
    expect([command, differences(JSON.parse(answer), answered, names)]).toEqual([command, []]);
  }
}

/** The variables in front of a command. */
function variablesOf(command: string): Record<string, string> {
  return Object.fromEntries([...command.matchAll(/(\w+)=(\S+) /g)].map(([, name, value]) => [name!, value!]));
}
