/**
 * The drivers' codes for a transaction that gave way to another one: the server says that it was rolled back, COMMIT
 * included. A statement that is a transaction by itself, as all of ours are, can be sent again as it was.
 *
 * Not ER_ERROR_DURING_COMMIT: a node of Galera that loses its cluster during COMMIT says it, too, when the others may have
 * the transaction already.
 */
const GAVE_WAY = new Set([
  'ER_LOCK_DEADLOCK',
  // Rolls back the statement alone: in a transaction of several the caller has to.
  'ER_LOCK_WAIT_TIMEOUT',
  // MariaDB with innodb_snapshot_isolation, its default from 11.6 on.
  'ER_CHECKREAD',
  // The certification of Group Replication.
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
  // serialization_failure, deadlock_detected, lock_not_available
  ...['40001', '40P01', '55P03'],
]);

/** Whether a driver's code says that its statement gave way to others: by a server, or by SQLite that was busy. */
export function gaveWay(driverCode: string): boolean {
  return GAVE_WAY.has(driverCode) || /^SQLITE_(BUSY|LOCKED)/.test(driverCode);
}
