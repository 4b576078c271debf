/**
 * Stops the process of a standby that would receive what its primary writes, where it waits for more.
 * @param ask gives the `answer` of a statement on the standby
 * @returns its process id; undefined when there is none, or when it was busy: then nothing is stopped
 */
export async function stopReceiver(ask: (sql: string) => Promise<unknown>): Promise<number | undefined> {
  const pid = await ask('SELECT pid AS answer FROM pg_stat_wal_receiver');
  if (typeof pid !== 'number') return undefined;
  process.kill(pid, 'SIGSTOP');
  // Stopped anywhere else, it could go on reading what the socket holds before it sees that it is to end.
  const state = `SELECT wait_event AS answer FROM pg_stat_activity WHERE pid = ${pid}`;
  if ((await ask(state)) === 'WalReceiverMain') return pid;
  process.kill(pid, 'SIGCONT');
  return undefined;
}

/** Ends one that is stopped: it finds both signals at once and ends before it reads. */
export function endReceiver(pid: number): void {
  process.kill(pid, 'SIGTERM');
  process.kill(pid, 'SIGCONT');
}
