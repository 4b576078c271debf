import { judgeServer, type BelievedServer, type ServerVerdict, type StoreTerm } from '@raindrop/core/internal';
import type { OwnDatabase } from './own-database.js';
import { REPLICA, ReplicaError, ServerHiddenError } from './server-term.js';

/**
 * Judges the server that answers as the primary. After a refusal the next statement connects anew: a new connection may lead
 * elsewhere.
 * @param isFirstLook then a server that tells no term is asked for it again: it may have been another one that could not
 * @returns undefined where the server is to be asked again
 * @throws ReplicaError; FormerPrimaryError; ServerHiddenError
 */
export function judgePrimary(
  database: OwnDatabase,
  seen: StoreTerm,
  ownReachMs: number,
  believed: BelievedServer | undefined,
  isFirstLook: boolean,
): ServerVerdict | undefined {
  const { term, knownTerm } = seen;
  const isHidden = term === '' && ((knownTerm ?? '') !== '' || (believed?.term ?? '') !== '');
  if (isHidden && isFirstLook && database.forgetMuteness()) return undefined;
  try {
    if (term === REPLICA) throw new ReplicaError();
    if (isHidden) throw new ServerHiddenError();
    return judgeServer(seen, ownReachMs, believed);
  } catch (error) {
    database.reconnect();
    throw error;
  }
}
