/** What is used of `pg`'s client; a native one has no such connection. */
interface PostgresClient {
  readonly connection?: {
    on?(event: 'readyForQuery', listener: (message: { readonly status?: string }) => void): void;
  };
}

/** What the server has said last: `I` for idle, `T` in a transaction, `E` in one that has failed. */
const statuses = new WeakMap<object, string | undefined>();

/** Whether a client is in a transaction, as the server's last answer says; true as long as none is known. */
export function isInPostgresTransaction(client: object): boolean {
  if (!statuses.has(client)) {
    statuses.set(client, undefined);
    (client as PostgresClient).connection?.on?.('readyForQuery', ({ status }) => void statuses.set(client, status));
  }
  return statuses.get(client) !== 'I';
}
