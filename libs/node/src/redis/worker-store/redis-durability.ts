/** Past this, a primary that was cut off from its replicas still serves by default: `min-replicas-max-lag`. */
const USUAL_LAG_S = 10;

/**
 * What of a server's settings costs its memory, in words.
 * @param said its INFO: persistence, replication, memory
 */
export function durabilityOf(said: readonly unknown[], reachMs: number): string[] {
  const info = said.map(String).join('\n');
  const valueOf = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const cost = `for ${Math.ceil(reachMs / 1_000)} s no worker id is given to a process that has none`;
  const warnings: string[] = [];
  if (valueOf('aof_enabled') === '0') {
    warnings.push(
      `aof_enabled is 0: after a restart Redis shows an old snapshot or nothing, and ${cost}, also to those whose row ` +
        `is gone. Set appendonly to yes`,
    );
  }
  const policy = valueOf('maxmemory_policy') ?? '';
  if (policy.startsWith('allkeys') && valueOf('maxmemory') !== '0') {
    warnings.push(
      `maxmemory_policy is ${policy}: Redis may evict the worker ids, after which every process loses its own, and ` +
        `${cost}. Set it to noeviction, or to one of volatile-*`,
    );
  }
  // The count of good replicas is told where min-replicas-to-write is set.
  if (valueOf('connected_slaves') !== '0' && valueOf('min_slaves_good_slaves') === undefined) {
    warnings.push(
      `min-replicas-to-write is 0: a primary that is cut off goes on renewing leases while a promoted replica gives the ` +
        `same worker ids away. Set it to 1 at least, and min-replicas-max-lag to ${USUAL_LAG_S} s or less`,
    );
  }
  return warnings;
}
