import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { answersAsShown } from './answers-as-shown.js';
import { BuiltExample } from './built-example.js';
import { send } from './send.js';

interface Note {
  readonly id: string;
  readonly text: string;
}

describe('The example "minimal"', () => {
  let example: BuiltExample;

  beforeAll(async () => {
    example = await BuiltExample.build('minimal');
  });

  afterEach(() => example.stopAll());

  afterAll(() => example.drop());

  it('answers as its README shows', () => answersAsShown(example, 'examples/minimal/README.md'));

  it('saves and finds notes, before and after a restart', async () => {
    const first = await example.start();
    const written = await Promise.all(
      ['milk', 'bread', 'tea'].map((text) => send<Note>(`${first.url}/notes`, { body: { text } })),
    );
    for (const { status, body } of written) {
      expect(status).toBe(201);
      expect(body.id).toMatch(/^[1-9]\d{16,18}$/);
    }
    expect(new Set(written.map(({ body }) => body.id)).size).toBe(3);
    // Nest closes, then sends the signal to itself once more.
    expect(await first.stop()).toBe('SIGTERM');

    const second = await example.start();
    for (const { body } of written) {
      expect(await send(`${second.url}/notes/${body.id}`)).toEqual({ status: 200, body });
    }
  });

  it('says 404 for a note that is not there, and 400 for what is no ID', async () => {
    const { url } = await example.start();
    expect((await send(`${url}/notes/12`)).status).toBe(404);
    expect((await send(`${url}/notes/12abc`)).status).toBe(400);
  });

  it('is as small as it says', () => {
    const source = readFileSync(resolve(__dirname, '../../../examples/minimal/src/main.ts'), 'utf8');
    expect(source.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(40);
  });
});
