import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { ClosedError } from '@raindrop/core';
import { EtcdRefusedError, EtcdUnavailableError } from './etcd-errors.js';
import type { ResolvedEtcdAddress } from './etcd-options.js';
import { post } from './post.js';

export type EtcdAnswer = Readonly<Record<string, unknown>>;

/** Of a connection that was never made: nothing was sent. */
const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

const UNAUTHENTICATED = 16;
const PERMISSION_DENIED = 7;

/** etcd has answered, with an error of its own. */
export class EtcdAnswerError extends EtcdUnavailableError {
  constructor(
    what: string,
    reason: string,
    /** Of gRPC. */
    readonly code: number,
  ) {
    super(what, reason);
  }
}

/**
 * The JSON gateway of an etcd, at whichever of its endpoints answers.
 *
 * What is read is asked of one endpoint after the other. What is written goes to the one that answered last, and is not
 * sent again unless nothing was sent: the caller reads whether it was executed.
 */
export class EtcdGateway {
  private agent: HttpAgent;
  private isClosed = false;
  private first = 0;
  private token: string | undefined;

  constructor(
    private readonly address: ResolvedEtcdAddress,
    private readonly timeoutMs: number,
  ) {
    this.agent = this.newAgent();
  }

  /** @throws EtcdUnavailableError; EtcdRefusedError */
  async read(what: string, path: string, body: object): Promise<EtcdAnswer> {
    const { length } = this.address.endpoints;
    return this.inTurn(what, path, body, { withinMs: this.timeoutMs / length, isRead: true });
  }

  /** @throws EtcdUnavailableError, whether it was executed is unknown; EtcdRefusedError */
  async write(what: string, path: string, body: object): Promise<EtcdAnswer> {
    // Who has another endpoint has to have the time to ask it.
    const withinMs = this.address.endpoints.length === 1 ? this.timeoutMs : this.timeoutMs / 2;
    return this.inTurn(what, path, body, { withinMs, isRead: false });
  }

  /** Drops what is under way. The next call connects anew. */
  abandon(): void {
    this.agent.destroy();
    this.agent = this.newAgent();
  }

  close(): void {
    this.isClosed = true;
    this.agent.destroy();
  }

  private async inTurn(
    what: string,
    path: string,
    body: object,
    { withinMs, isRead }: { readonly withinMs: number; readonly isRead: boolean },
  ): Promise<EtcdAnswer> {
    const { endpoints } = this.address;
    const { agent } = this;
    for (let tried = 1; ; tried++) {
      const endpoint = endpoints[this.first]!;
      try {
        return await this.ask(endpoint, what, path, body, withinMs);
      } catch (error) {
        if (error instanceof EtcdRefusedError || this.isClosed || agent !== this.agent) throw error;
        this.first = (this.first + 1) % endpoints.length;
        if (tried >= endpoints.length || !(isRead || isUnsent(error))) throw error;
      }
    }
  }

  private async ask(endpoint: URL, what: string, path: string, body: object, timeoutMs: number): Promise<EtcdAnswer> {
    const { account } = this.address;
    for (let isSecond = false; ; isSecond = true) {
      // Each call has a token of its own in hand: what another call makes of the common one meanwhile is no matter.
      const token = account && ((isSecond ? undefined : this.token) ?? (await this.authenticate(endpoint, timeoutMs)));
      this.token = token;
      try {
        return await this.send(endpoint, what, path, body, timeoutMs, token);
      } catch (error) {
        if (!(error instanceof EtcdAnswerError)) throw error;
        if (account === undefined || !isOfToken(error)) throw refusalOf(error, what);
        // What came with the token was not executed. A new one is refused only where accounts change again meanwhile.
        if (isSecond) throw error;
      }
    }
  }

  private async authenticate(endpoint: URL, timeoutMs: number): Promise<string> {
    const what = 'the account';
    try {
      const { token } = await this.send(endpoint, what, '/v3/auth/authenticate', this.address.account!, timeoutMs);
      return String(token);
    } catch (error) {
      // Where accounts are switched off none is needed.
      if (error instanceof EtcdAnswerError && /authentication is not enabled/.test(error.message)) return '';
      throw error instanceof EtcdAnswerError ? refusalOf(error, what) : error;
    }
  }

  private async send(
    endpoint: URL,
    what: string,
    path: string,
    body: object,
    timeoutMs: number,
    token?: string,
  ): Promise<EtcdAnswer> {
    if (this.isClosed) throw new ClosedError();
    const { agent } = this;
    const headers: Record<string, string> = token ? { authorization: token } : {};
    const url = new URL(path, endpoint);
    let answer: { status: number; text: string };
    try {
      answer = await post({ url, agent, headers, body: JSON.stringify(body), timeoutMs });
    } catch (error) {
      throw new EtcdUnavailableError(what, error);
    }
    if (agent !== this.agent) throw new EtcdUnavailableError(what, 'the call was abandoned');
    return answerOf(what, endpoint, answer);
  }

  private newAgent(): HttpAgent {
    const { endpoints, ca } = this.address;
    const isSecure = endpoints[0]?.protocol === 'https:';
    return isSecure
      ? new HttpsAgent({ keepAlive: true, ...(ca !== undefined && { ca }) })
      : new HttpAgent({ keepAlive: true });
  }
}

/** @throws EtcdAnswerError; EtcdUnavailableError for what is no answer of an etcd */
function answerOf(what: string, { host }: URL, { status, text }: { status: number; text: string }): EtcdAnswer {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = undefined;
  }
  if (typeof answer === 'object' && answer !== null) {
    const {
      error,
      message,
      code,
      grpc_code: grpcCode,
    } = { ...answer, ...Object((answer as EtcdAnswer)['error']) } as EtcdAnswer;
    if (status === 200 && error === undefined && hasHeader(answer as EtcdAnswer)) return answer as EtcdAnswer;
    if (error !== undefined) throw new EtcdAnswerError(what, wordsOf(message ?? error), Number(code ?? grpcCode));
  }
  throw new EtcdUnavailableError(what, `what answers at ${host} is no etcd from 3.4 on (status ${status})`);
}

function hasHeader({ header, result }: EtcdAnswer): boolean {
  const { cluster_id: cluster, revision = '0' } = Object(
    header ?? (Object(result) as EtcdAnswer)['header'],
  ) as EtcdAnswer;
  return typeof cluster === 'string' && Number.isSafeInteger(Number(revision));
}

function wordsOf(message: unknown): string {
  const words = typeof message === 'string' ? message.slice(0, 500) : 'an error without words';
  if (!words.includes('database space exceeded')) return words;
  return `${words}: it takes no writes until it was compacted and defragmented and the alarm is off (etcdctl compact, defrag, alarm disarm)`;
}

/**
 * Whether the token is refused, and not the account: it has ended, it is older than the last change of the accounts
 * (JWT), or it is missing, since accounts were off when it was asked for.
 */
function isOfToken({ code, message }: EtcdAnswerError): boolean {
  return code === UNAUTHENTICATED || /revision of auth store is old|user name is empty/.test(message);
}

function refusalOf(error: EtcdAnswerError, what: string): EtcdAnswerError | EtcdRefusedError {
  const isRefusal = error.code === PERMISSION_DENIED || isOfToken(error) || /authentication failed/.test(error.message);
  return isRefusal ? new EtcdRefusedError(what, String(error.cause)) : error;
}

function isUnsent(error: unknown): boolean {
  if (!(error instanceof EtcdUnavailableError)) return false;
  const { cause } = error as { cause?: unknown };
  const codes = cause instanceof AggregateError ? cause.errors : [cause];
  return (
    codes.length > 0 && codes.every((each) => UNSENT.includes(String((each as { code?: unknown } | undefined)?.code)))
  );
}
