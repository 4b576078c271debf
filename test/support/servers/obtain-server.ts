import { reasonOf } from './reason-of';
import { serverFacts, ServerKind } from './server-kind';

/** A server the tests can use, and how it came. */
export interface ObtainedServer {
  readonly kind: ServerKind;
  readonly url: string;
  /** Such as `10.11.19`. */
  readonly version: string;
  /** In words for the end of the run's output: `running on 127.0.0.1:3306`. */
  readonly how: string;
  /** Ends what was started for this run; missing when the server was there before. */
  readonly stop?: () => Promise<void>;
}

/** One way of coming to a server; throws with the reason when it leads nowhere. */
export interface Way {
  name(kind: ServerKind): string;
  obtain(kind: ServerKind): Promise<ObtainedServer>;
}

/** No way led to a server. The tests never go on without one. */
export class NoServerError extends Error {
  constructor(
    readonly kind: ServerKind,
    readonly failures: readonly string[],
  ) {
    const { title, variable, scheme, usualPort, aptPackage } = serverFacts[kind];
    super(
      [
        `no ${title} for the tests. Tried, in this order:`,
        ...failures.map((failure) => `  - ${failure}`),
        `Set ${variable} to a server on which the tests may create databases`,
        `(${scheme}://user:password@127.0.0.1:${usualPort}), or install it (Debian: apt-get install ${aptPackage}).`,
      ].join('\n'),
    );
    this.name = 'NoServerError';
  }
}

/**
 * The first of `ways` that leads to a server.
 *
 * @throws NoServerError that names every way and why it failed.
 */
export async function obtainServer(kind: ServerKind, ways: readonly Way[]): Promise<ObtainedServer> {
  const failures: string[] = [];
  for (const way of ways) {
    try {
      return await way.obtain(kind);
    } catch (error) {
      failures.push(`${way.name(kind)}: ${reasonOf(error)}`);
    }
  }
  throw new NoServerError(kind, failures);
}
