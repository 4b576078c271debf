import { answersAsShown, namesTakenPort } from './answers-as-shown.js';
import { BuiltExample } from './built-example.js';
import { send } from './send.js';

interface SignedUp {
  readonly user: { readonly id: string };
}

interface Note {
  readonly id: string;
  readonly userId: string;
  readonly title: string;
}

describe('The example "better-auth"', () => {
  let example: BuiltExample;

  beforeAll(async () => {
    example = await BuiltExample.build('better-auth', 'drizzle');
  });

  afterEach(() => example.stopAll());

  afterAll(() => example.drop());

  /** A user who signs up, and the cookie of the session. */
  async function signUp(url: string, name: string): Promise<{ id: string; headers: { cookie: string } }> {
    const answer = await fetch(`${url}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, email: `${name}@shop.test`, password: 'correct horse' }),
    });
    expect(answer.status).toBe(200);
    const cookie = answer.headers.getSetCookie().map((each) => each.split(';')[0]);
    return { id: ((await answer.json()) as SignedUp).user.id, headers: { cookie: cookie.join('; ') } };
  }

  it('answers as its README shows', () => answersAsShown(example, 'examples/better-auth/README.md'));

  it('names the variable of a port that is taken', () =>
    namesTakenPort((environment) => example.start(undefined, environment)));

  it('gives users of two processes IDs of their own, by which their notes refer to them', async () => {
    const [one, other] = await Promise.all([example.start(), example.start()]);
    const users = await Promise.all(
      Array.from({ length: 10 }, (_, index) => signUp(index % 2 ? one.url : other.url, `user${index}`)),
    );
    expect(new Set(users.map(({ id }) => id)).size).toBe(10);
    for (const { id, headers } of users) {
      expect(id).toMatch(/^\d{17}$/);
      const { body: note } = await send<Note>(`${one.url}/notes`, { body: { title: 'tea' }, headers });
      expect(note).toEqual({ id: expect.stringMatching(/^\d{17}$/) as string, userId: id, title: 'tea' });
      expect(await send(`${other.url}/notes/${note.id}`, { headers })).toEqual({ status: 200, body: note });
    }
  });

  it('shows a note to its user only, and nothing to a stranger', async () => {
    const { url } = await example.start();
    const [ada, grace] = [await signUp(url, 'ada-of-notes'), await signUp(url, 'grace-of-notes')];
    const { body } = await send<Note>(`${url}/notes`, { body: { title: 'tea' }, headers: ada.headers });
    expect((await send(`${url}/notes/${body.id}`, { headers: grace.headers })).status).toBe(404);
    expect((await send(`${url}/notes/${body.id}`)).status).toBe(401);
    expect((await send(`${url}/notes/${body.id}x`, { headers: ada.headers })).status).toBe(400);
    expect((await send(`${url}/notes`, { body: {}, headers: ada.headers })).status).toBe(400);
  });
});
