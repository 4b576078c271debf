import { machineProcessWorkerId, machineText, type NetworkInterfaces } from '../worker-id/machine-process-id.js';
import { randomWords } from './host-ports.js';
import type { HostScope } from './host-scope.js';

/** The first 32 threads that a process starts lie apart from each other, and from its neighbours' first threads. */
const THREAD_STRIDE = 13;

interface Os {
  hostname(): string;
  networkInterfaces(): NetworkInterfaces;
}

/**
 * A worker id of the machine, the process and the thread this runs in: see {@link machineProcessWorkerId}. Where one of
 * them cannot be told from others it is random, and everything is in a browser.
 */
export function hostWorkerId(scope: HostScope, workerBits: number): number {
  const random = randomWords(scope, 2);
  return machineProcessWorkerId({
    interfaces: machineOf(scope) ?? String(random[0]),
    processId: processOf(scope) ?? random[1]!,
    workerBits,
  });
}

function machineOf({ process }: HostScope): string | undefined {
  try {
    const os = process?.getBuiltinModule?.('node:os') as Os | undefined;
    const interfaces = os?.networkInterfaces() ?? {};
    const leadsOutside = Object.values(interfaces).some((each) => each?.some(({ internal }) => !internal));
    // The name alone may be `localhost`.
    return os !== undefined && leadsOutside ? machineText(os.hostname(), interfaces) : undefined;
  } catch {
    // Not permitted, as in some sandboxes.
    return undefined;
  }
}

/** Every container's first process is number 1: that tells nothing. */
function processOf({ process }: HostScope): number | undefined {
  const pid = process?.pid;
  if (pid === undefined || !Number.isSafeInteger(pid) || pid <= 1) return undefined;
  const threads = process?.getBuiltinModule?.('node:worker_threads') as { readonly threadId: number } | undefined;
  return pid + THREAD_STRIDE * (threads?.threadId ?? 0);
}
