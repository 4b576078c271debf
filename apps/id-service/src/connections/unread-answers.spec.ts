import { Socket } from 'node:net';
import { UnreadAnswers } from './unread-answers.js';

const BOUNDS = { mostOfOne: 400, most: 1_000 };

describe('UnreadAnswers', () => {
  let unread: UnreadAnswers;

  beforeEach(() => {
    unread = new UnreadAnswers(BOUNDS);
  });

  /** A connection of which so much is unread, whatever was added. */
  const reader = (bytes: number): { socket: Socket; left: number } => {
    const made = { socket: new Socket(), left: bytes };
    unread.watch(made.socket, () => made.left);
    return made;
  };

  it('leaves connections alone whose answers are read, however many there are', () => {
    const all = [reader(0), reader(0)];
    for (let answer = 0; answer < 1_000; answer++) for (const { socket } of all) unread.add(socket, 300);
    expect(all.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  });

  it('cuts off the one that leaves too much', () => {
    const [greedy, other] = [reader(401), reader(400)];
    for (const { socket } of [greedy, other]) for (let answer = 0; answer < 5; answer++) unread.add(socket, 100);
    expect([greedy.socket.destroyed, other.socket.destroyed]).toEqual([true, false]);
    expect(() => unread.add(greedy.socket, 100)).not.toThrow();
  });

  it('cuts off those that leave the most when all together leave too much', () => {
    const all = [100, 390, 50, 380, 200].map(reader);
    for (const { socket, left } of all) unread.add(socket, left);
    expect(all.map(({ socket }) => socket.destroyed)).toEqual([false, true, false, true, false]);
  });

  it('forgets connections that are gone', async () => {
    for (let each = 0; each < 10; each++) {
      const { socket } = reader(390);
      unread.add(socket, 390);
      await new Promise((closed) => socket.once('close', closed).destroy());
    }
    const { socket } = reader(390);
    unread.add(socket, 390);
    expect(socket.destroyed).toBe(false);
  });

  it('weighs what others have written', () => {
    const { socket } = reader(401);
    unread.look(socket);
    expect(socket.destroyed).toBe(true);
  });
});
