import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../../support/engine/seeded-random.js';
import type { Child } from '../../../support/processes/child.js';
import type { NetworkHosts } from '../../../support/servers/network-hosts.js';
import type { Fault } from './engine.js';

const PAUSE_MS = 6_000;
const DOWN_MS = 2_000;

interface Member {
  readonly child: Child;
}

/** Servers that agree by a majority, one on each host. */
interface MajorityOf<M extends Member> {
  readonly members: readonly M[];
  kill(member: M): Promise<unknown>;
  start(member: M): Promise<void>;
  untilReady(member: M): Promise<void>;
}

/** What may go wrong with one of them: it is killed, stands still, or is cut off from the others, as the leader. */
export function memberFaults<M extends Member>(
  servers: MajorityOf<M>,
  hosts: NetworkHosts,
  leader: () => Promise<M>,
): Readonly<Record<'killMember' | 'pauseMember' | 'splitLeader', Fault>> {
  const random = new SeededRandom(7);
  return {
    killMember: async () => {
      const member = random.pick(servers.members);
      await servers.kill(member);
      await sleep(DOWN_MS);
      await servers.start(member);
    },
    pauseMember: async () => {
      const member = await leader();
      member.child.signal('SIGSTOP');
      await sleep(PAUSE_MS).finally(() => member.child.signal('SIGCONT'));
      await servers.untilReady(member);
    },
    /** Its clients reach it all the time, and must get nothing from it. */
    splitLeader: async () => {
      const member = await leader();
      const host = servers.members.indexOf(member) + 1;
      await hosts.cut(host, true);
      await sleep(PAUSE_MS).finally(() => hosts.cut(host, false));
      await servers.untilReady(member);
    },
  };
}
