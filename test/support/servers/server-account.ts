import { MissingForTests } from '../jest/missing-for-tests';
import { reasonOf } from './reason-of';
import { runCommand } from './run-command';

/** The user a server runs as, in the words of `spawn`; empty for the user we are. */
export interface ServerAccount {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * As root, servers run as the user their package made (PostgreSQL refuses to run as root); otherwise as ourselves.
 *
 * @throws MissingForTests when we are root and there is no such user.
 */
export async function serverAccount(user: string): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const idOf = async (flag: string): Promise<number> =>
    Number(await runCommand('id', [flag, user], { withinMs: 30_000 }));
  try {
    return { uid: await idOf('-u'), gid: await idOf('-g') };
  } catch (error) {
    throw new MissingForTests(`the user ${user}`, reasonOf(error));
  }
}
