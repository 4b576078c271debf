import { AptInstall } from './apt-install';
import { findProgram } from './find-program';

/** Installs the Debian packages of programs that are not there. The callers that need a program report it when it cannot be installed. */
export async function installPrograms(packages: Readonly<Record<string, string>>): Promise<void> {
  const apt = new AptInstall();
  const missing = Object.entries(packages).filter(([program]) => !hasProgram(program));
  await Promise.allSettled([...new Set(missing.map(([, name]) => name))].map((name) => apt.install(name)));
}

export function hasProgram(name: string): boolean {
  try {
    findProgram(name);
    return true;
  } catch {
    return false;
  }
}
