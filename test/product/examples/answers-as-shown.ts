import { runShell } from '../../published/docs/run-shell.js';
import { shellCommands } from '../../published/docs/shell-commands.js';
import { differences } from '../../published/docs/shown-answer.js';
import type { BuiltExample } from './built-example.js';

/** Runs the commands of an example's README; `npm start` without building once more what is built. */
export async function answersAsShown(example: BuiltExample, document: string): Promise<void> {
  const commands = shellCommands().filter((each) => each.document === document);
  expect(commands.length).toBeGreaterThan(1);
  const names = new Map<string, string>();
  const urls = new Map<string, string>();
  for (const { command, answer } of commands) {
    if (command.endsWith('npm start')) {
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
