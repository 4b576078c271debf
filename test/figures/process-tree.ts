import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of a processor's time in a second: Linux says it in these, whatever the kernel's own are. */
const TICKS = 100;

/** CPU time that a process, all below it and all of theirs that have ended have used until now, ms. Linux only. */
export function cpuOfTree(root: number): number {
  const used = new Map<number, { readonly parent: number; readonly ms: number; readonly endedMs: number }>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The name of the program may have anything in it, and ends with the last bracket.
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const [user, system, endedUser, endedSystem] = fields.slice(11, 15) as [number, number, number, number];
      const msOf = (ticks: number): number => (ticks * 1_000) / TICKS;
      used.set(Number(name), { parent: fields[1]!, ms: msOf(user + system), endedMs: msOf(endedUser + endedSystem) });
    } catch {
      // It has ended meanwhile.
    }
  }
  const isBelow = (pid: number): boolean => {
    if (pid === root) return true;
    const parent = used.get(pid)?.parent;
    return parent !== undefined && parent > 1 && isBelow(parent);
  };
  return [...used].filter(([pid]) => isBelow(pid)).reduce((sum, [, { ms, endedMs }]) => sum + ms + endedMs, 0);
}
