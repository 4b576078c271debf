import { runCommand } from './run-command';

/**
 * Wraps a command so that the kernel sends it `signal` when this process ends, however it ends: a run that is
 * interrupted or killed gets no tear-down and would leave its servers behind. util-linux's setpriv does it and then
 * becomes the program, so the process id is the program's. Where it cannot (macOS, BusyBox) the command is unchanged.
 */
export async function dieWithUs(
  command: readonly [string, ...string[]],
  signal: NodeJS.Signals,
): Promise<[string, ...string[]]> {
  const wrapper = ['--pdeathsig', signal.replace('SIG', ''), '--'];
  try {
    await runCommand('setpriv', [...wrapper, 'true'], { timeoutMs: 5_000 });
    return ['setpriv', ...wrapper, ...command];
  } catch {
    return [...command];
  }
}
