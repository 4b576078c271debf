import { spawnSync } from 'node:child_process';

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: string[]];

/** util-linux has a setpriv that knows the option; macOS has none, and BusyBox' knows less. */
const hasSetpriv = spawnSync('setpriv', ['--pdeathsig', 'KILL', '--', 'true']).status === 0;

/**
 * Wraps a command so that the kernel sends it `signal` when this process ends, however it ends: a run that is
 * interrupted or killed gets no tear-down and would leave its servers behind. setpriv does it and then becomes the
 * program, so the process id is the program's. Where it cannot the command is unchanged.
 */
export function dieWithUs(command: Command, signal: NodeJS.Signals): Command {
  return hasSetpriv ? ['setpriv', '--pdeathsig', signal.replace('SIG', ''), '--', ...command] : command;
}
