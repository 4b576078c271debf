const ANSWER_MS = 30_000;

export interface User {
  readonly id: number;
  readonly email: string;
}

export interface Login {
  readonly token: string;
  readonly refreshToken: string;
  readonly user: User;
}

/** Calls the application as its web page does. */
export class BoilerplateClient {
  constructor(private readonly url: string) {}

  async register(email: string): Promise<Login> {
    const person = { email, password: 'secret', firstName: 'Ada', lastName: 'Lovelace' };
    await this.call('POST', '/auth/email/register', { body: person });
    return this.login(email);
  }

  login(email: string): Promise<Login> {
    return this.call<Login>('POST', '/auth/email/login', { body: { email, password: 'secret' } });
  }

  refresh({ refreshToken }: Login): Promise<Login> {
    return this.call<Login>('POST', '/auth/refresh', { token: refreshToken });
  }

  me({ token }: Login): Promise<User> {
    return this.call<User>('GET', '/auth/me', { token });
  }

  /** What only an administrator may. */
  users<T>(method: string, path: string, { token }: Login, body?: object): Promise<T> {
    return this.call<T>(method, `/users${path}`, body === undefined ? { token } : { token, body });
  }

  /** @throws Error with the answer, unless the status is one of success */
  private async call<T>(method: string, path: string, sent: { body?: object; token?: string }): Promise<T> {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (sent.token !== undefined) headers['authorization'] = `Bearer ${sent.token}`;
    const response = await fetch(this.url + path, {
      method,
      headers,
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(sent.body !== undefined && { body: JSON.stringify(sent.body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answers ${response.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}
