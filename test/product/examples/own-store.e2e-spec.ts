import { runCommand } from '../../support/servers/run-command.js';
import { answersAsShown, namesTakenPort } from './answers-as-shown.js';
import { BuiltExample } from './built-example.js';
import { send } from './send.js';

const TESTS_MS = 170_000;

describe('The example "own-store"', () => {
  let example: BuiltExample;

  beforeAll(async () => {
    example = await BuiltExample.build('own-store');
  });

  afterEach(() => example.stopAll());

  afterAll(() => example.drop());

  it('answers as its README shows', () => answersAsShown(example, 'examples/own-store/README.md'));

  it('names the variable of a port that is taken', () =>
    namesTakenPort((environment) => example.start(undefined, environment)));

  it('passes the contract, by the test runner of Node', async () => {
    await runCommand('npm', ['test'], { cwd: example.folder, withinMs: TESTS_MS });
  });

  it('repeats no ID when one process is killed and others go on', async () => {
    const issue = async (url: string): Promise<string> =>
      (await send<{ id: string }>(`${url}/ids`, { body: {} })).body.id;
    const [one, other] = await Promise.all([example.start(), example.start()]);
    const ids = await Promise.all(Array.from({ length: 200 }, (_, index) => issue(index % 2 ? one.url : other.url)));
    await one.stop('SIGKILL');
    const next = await example.start();
    for (let count = 0; count < 100; count++) ids.push(await issue(next.url), await issue(other.url));
    expect(new Set(ids).size).toBe(400);
  });
});
