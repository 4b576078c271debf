import { setMaxListeners } from 'node:events';
import type { Server, Socket } from 'node:net';
import { boundConnections } from '../connections/bound-connections.js';
import type { RequestRate } from '../connections/request-rate.js';
import type { UnreadAnswers } from '../connections/unread-answers.js';
import { ProblemException } from '../problems/problem.exception.js';
import { connectionClosed } from '../ids/gone-signal.js';

/** Other connections are dropped at once. */
const CONNECTIONS = { most: 1_000, mostOfOne: 250 };

/** Messages under way on one connection: a client of ours has 32 at most. */
const MOST_ON_A_CONNECTION = 64;

/** The same for all connections together: so many answers of 10,000 IDs take some 200 MB. */
const MOST_TOGETHER = 256;

/** Who leaves an answer unread for so long is cut off. */
const UNREAD_MS = 30_000;

/** Who has not sent a whole message by then is cut off. Afterwards anybody may be quiet: clients ask when they need IDs. */
const FIRST_MESSAGE_MS = 10_000;

/** How long answers under way may take at the end. */
const LAST_ANSWERS_MS = 5_000;

interface Peer {
  /** Messages under way. */
  pending: number;
  /** Aborted when the connection is closed: nobody waits for an answer any more. */
  readonly gone: AbortController;
  /** Ends a connection that says nothing. */
  silence: NodeJS.Timeout | undefined;
  /** Called when nothing is under way. */
  onIdle: (() => void) | undefined;
}

/** Who comes in over TCP, how much they may want at a time, and how they leave when the service ends. */
export class TcpDoor {
  private readonly peers = new Map<Socket, Peer>();
  private server: Server | undefined;
  private ending: Promise<void> | undefined;
  private underWay = 0;

  /** @param closing aborted when the service ends */
  constructor(
    private readonly closing: AbortSignal,
    private readonly rate: RequestRate,
    private readonly unread: UnreadAnswers,
    private readonly deadlines: {
      readonly unreadMs?: number | undefined;
      readonly firstMessageMs?: number | undefined;
    } = {},
  ) {}

  watch(server: Server): void {
    this.server = server;
    boundConnections(server, CONNECTIONS);
    server.on('connection', (socket) => this.welcome(socket));
    this.closing.addEventListener('abort', () => void this.end(), { once: true });
  }

  /** A whole message has come, whatever it asks for. */
  hear(socket: Socket): void {
    clearTimeout(this.peers.get(socket)?.silence);
  }

  /**
   * Answers a message unless there are too many.
   * @param ids how many it asks for
   * @param answer is told by a signal when nobody waits for it any more
   * @throws ProblemException 429 for too many, 503 when the service ends; what the answer throws
   */
  async during<T>(socket: Socket, ids: number, answer: (gone: AbortSignal) => Promise<T>): Promise<T> {
    const peer = this.peers.get(socket);
    if (peer === undefined) throw connectionClosed();
    this.admit(peer, socket.remoteAddress ?? '', ids);
    peer.pending++;
    this.underWay++;
    try {
      return await answer(peer.gone.signal);
    } finally {
      this.underWay--;
      const isLast = --peer.pending === 0;
      // The answer is written after this.
      setImmediate(() => {
        this.unread.look(socket);
        if (isLast) peer.onIdle?.();
      });
    }
  }

  /** When the service ends: settles when what is under way is answered, after 5 s at the latest. */
  end(): Promise<void> {
    return (this.ending ??= this.seeOff());
  }

  private welcome(socket: Socket): void {
    const { unreadMs = UNREAD_MS, firstMessageMs = FIRST_MESSAGE_MS } = this.deadlines;
    const silence = setTimeout(() => socket.destroy(), firstMessageMs).unref();
    const peer: Peer = { pending: 0, gone: new AbortController(), silence, onIdle: undefined };
    setMaxListeners(MOST_ON_A_CONNECTION, peer.gone.signal);
    this.peers.set(socket, peer);
    this.unread.watch(socket);
    socket.setTimeout(unreadMs, () => {
      if (socket.writableLength > 0) socket.destroy();
    });
    socket.once('close', () => {
      this.peers.delete(socket);
      clearTimeout(silence);
      peer.gone.abort(connectionClosed());
    });
  }

  private async seeOff(): Promise<void> {
    this.server?.close();
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => (timer = setTimeout(resolve, LAST_ANSWERS_MS)));
    await Promise.race([tooLate, Promise.all(Array.from(this.peers, ([socket, peer]) => farewell(socket, peer)))]);
    clearTimeout(timer);
  }

  private admit({ pending }: Peer, address: string, ids: number): void {
    if (this.ending !== undefined) throw shuttingDown();
    if (pending >= MOST_ON_A_CONNECTION) throw tooMany(`${MOST_ON_A_CONNECTION} messages on one connection`);
    if (this.underWay >= MOST_TOGETHER) throw tooMany(`${MOST_TOGETHER} messages`);
    this.rate.count(address, ids);
  }
}

/** Settles when the connection's last answer has been handed to the system, and its end after it. */
function farewell(socket: Socket, peer: Peer): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', resolve);
    peer.onIdle = () => {
      if (peer.pending > 0) return;
      socket.pause();
      socket.end(resolve);
    };
    if (peer.pending === 0) peer.onIdle();
  });
}

function tooMany(what: string): ProblemException {
  const detail = `More than ${what} are under way. Wait for their answers, and try again.`;
  const told = { errorCode: 'TOO_MANY_MESSAGES', detail, retryable: true, retryAfterSeconds: 1 };
  return new ProblemException(429, told);
}

function shuttingDown(): ProblemException {
  const detail = 'The service is shutting down. Ask another one.';
  return new ProblemException(503, { errorCode: 'SHUTTING_DOWN', detail, retryable: true });
}
