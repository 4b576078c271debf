import { type Agent, Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { ClosedError } from '@raindrop/core';
import {
  option,
  type OptionReader,
  type OptionsOf,
  PermanentError,
  readOptions,
  text,
  UnavailableError,
} from '@raindrop/core/internal';
import { hostTimers } from '../system/system-ports.js';

/**
 * No etcd answered, or it could not serve. Whether the call was executed is unknown. Nothing of its outcome is used.
 */
export class EtcdUnavailableError extends UnavailableError {
  static override readonly name: string = 'EtcdUnavailableError';
  readonly errorCode = 'ETCD_UNAVAILABLE';

  constructor(what: string, cause: unknown) {
    super('etcd', what, cause);
  }
}

/** etcd refuses the account, or the account may not do this; nothing was executed. */
export class EtcdRefusedError extends PermanentError {
  static override readonly name = 'EtcdRefusedError';
  readonly errorCode = 'ETCD_REFUSED';

  constructor(what: string, reason: string) {
    super(
      `etcd refuses ${what}: ${reason}. Correct username and password of etcdWorkers(), and grant its role readwrite on ` +
        `the prefix (etcdctl role grant-permission ROLE --prefix=true readwrite PREFIX)`,
    );
  }
}

/** How to reach an etcd, from version 3.4, over its JSON gateway. */
export const etcdAddressOptions = {
  /**
   * The client URLs of one or all members, such as `http://127.0.0.1:2379`. All begin alike: `http://` or `https://`.
   * @range a URL or several
   */
  endpoints: option<string | readonly string[], readonly URL[]>(readEndpoints, { isRequired: true }),
  /** An account, where etcd has them switched on. @range a string, together with `password` @defaultValue none */
  username: text({ pattern: /^[^]+$/, legal: 'a string' }),
  /** Its password. @range a string @defaultValue none */
  password: text({ pattern: /^[^]+$/, legal: 'a string' }),
  /** The certificate of the authority that signed etcd's, as PEM. @range a string @defaultValue those that Node trusts */
  ca: text({ pattern: /^[^]+$/, legal: 'a string' }),
};

/** How to reach an etcd, from version 3.4, over its JSON gateway. */
export interface EtcdAddress extends OptionsOf<typeof etcdAddressOptions> {}

export interface ResolvedEtcdAddress {
  readonly endpoints: readonly URL[];
  readonly account: { readonly name: string; readonly password: string } | undefined;
  readonly ca: string | undefined;
}

const LEGAL = 'must be the URLs of etcd members, such as http://127.0.0.1:2379, all http or all https';

export function readEtcdAddress(reader: OptionReader): ResolvedEtcdAddress {
  const { endpoints, username, password, ca } = readOptions(reader, etcdAddressOptions);
  if ((username === undefined) !== (password === undefined)) {
    reader.problem('username', undefined, 'and password belong together: give both or none');
  }
  const account = username === undefined || password === undefined ? undefined : { name: username, password };
  return { endpoints, account, ca };
}

function readEndpoints(reader: OptionReader, name: string): readonly URL[] {
  const given = reader.value(name);
  const texts: unknown[] = Array.isArray(given) ? given : [given];
  const urls = texts.map((text) => (typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined));
  const scheme = urls[0]?.protocol;
  const isLegal = (url: URL | undefined): url is URL =>
    url !== undefined && url.protocol === scheme && /^https?:$/.test(url.protocol) && url.username === '';
  if (urls.length > 0 && urls.every(isLegal)) return urls;
  // One may hold a password: none is shown.
  reader.problem(name, given === undefined ? undefined : `(${typeof given})`, LEGAL);
  return [];
}

export type EtcdAnswer = Readonly<Record<string, unknown>>;

/** Node's codes for a connection that was never made: nothing was sent. */
const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

const UNAUTHENTICATED = 16;
const PERMISSION_DENIED = 7;

/** etcd has answered, with an error of its own. */
class EtcdAnswerError extends EtcdUnavailableError {
  static override readonly name = 'EtcdAnswerError';

  constructor(
    what: string,
    reason: string,
    /** The status code of gRPC. */
    readonly code: number,
  ) {
    super(what, reason);
  }
}

/**
 * The JSON gateway of an etcd, at whichever of its endpoints answers.
 *
 * A read is asked of one endpoint after the other. A write goes to the endpoint that answered last, and is sent to
 * another one only when nothing was sent: otherwise the caller reads whether the write was executed.
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
    // Where there is another endpoint, half of the time is left to ask it.
    const withinMs = this.address.endpoints.length === 1 ? this.timeoutMs : this.timeoutMs / 2;
    return this.inTurn(what, path, body, { withinMs, isRead: false });
  }

  /** Drops the calls under way. The next call connects anew. */
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
      // This call uses its own token, whatever another call makes of the common one meanwhile.
      const token = account && ((isSecond ? undefined : this.token) ?? (await this.authenticate(endpoint, timeoutMs)));
      this.token = token;
      try {
        return await this.send(endpoint, what, path, body, timeoutMs, token);
      } catch (error) {
        if (!(error instanceof EtcdAnswerError)) throw error;
        if (account === undefined || !isOfToken(error)) throw refusalOf(error, what);
        // A call whose token is refused was not executed. A new token is refused only when accounts change meanwhile.
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
      // Where accounts are switched off no token is needed.
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
  throw new EtcdUnavailableError(what, `the server at ${host} is not etcd 3.4 or later (status ${status})`);
}

function hasHeader({ header, result }: EtcdAnswer): boolean {
  const { cluster_id: cluster, revision = '0' } = Object(
    header ?? (Object(result) as EtcdAnswer)['header'],
  ) as EtcdAnswer;
  return typeof cluster === 'string' && Number.isSafeInteger(Number(revision));
}

function wordsOf(message: unknown): string {
  const words = typeof message === 'string' ? message.slice(0, 500) : 'an error without a message';
  if (!words.includes('database space exceeded')) return words;
  return (
    `${words}: it refuses writes until it is compacted and defragmented and the alarm is off (etcdctl compact, ` +
    `defrag, alarm disarm)`
  );
}

/**
 * Whether the token is refused, and not the account: the token has expired, is older than the last change of the
 * accounts (JWT), or is missing because accounts were off when it was asked for.
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

/** The parts of a request to a JSON gateway. */
interface Posted {
  readonly url: URL;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
}

/** A page of a table has 100 KB. */
export const MOST_BYTES = 4 * 1_048_576;

/** Sends one request and reads its answer, within a time limit and no redirect. Rejects with what Node says. */
function post({ url, agent, headers, body, timeoutMs }: Posted): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const length = Buffer.byteLength(body);
    const type = { 'content-type': 'application/json', 'content-length': String(length) };
    const request = send(url, { method: 'POST', agent, headers: { ...type, ...headers } });
    const giveUp = (): void => void request.destroy(new Error(`no answer within ${Math.round(timeoutMs)} ms`));
    const timer = hostTimers.setTimeout(giveUp, timeoutMs).unref();
    request.on('error', reject);
    request.on('close', () => hostTimers.clearTimeout(timer));
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on('data', (part: Buffer) => {
        size += part.length;
        if (size > MOST_BYTES) request.destroy(new Error(`an answer of more than ${MOST_BYTES} bytes`));
        else parts.push(part);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      response.on('error', reject);
      response.on('close', () => reject(new Error('the answer was cut off')));
    });
    request.end(body);
  });
}
