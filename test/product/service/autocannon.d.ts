/** What is used of autocannon, which comes without types. */
declare module 'autocannon' {
  export interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    /** Seconds until a request counts as lost. */
    readonly timeout: number;
    readonly requests: readonly {
      readonly method: 'GET' | 'POST';
      readonly path: string;
      readonly onResponse: (status: number, body: string) => void;
    }[];
  }

  export interface Result {
    readonly errors: number;
    readonly timeouts: number;
    /** Milliseconds. */
    readonly latency: { readonly p99: number };
  }

  /** The result, and what ends it early. */
  export interface Instance extends Promise<Result> {
    stop(): void;
  }

  export default function autocannon(options: Options): Instance;
}
