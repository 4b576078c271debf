import { access, readFile } from 'node:fs/promises';

/** Whether this process runs in a container, as far as that can be told; nothing but a column for people depends on it. */
export async function isContainer(env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined || env['container'] !== undefined) return true;
  const marks = await Promise.all(['/.dockerenv', '/run/.containerenv'].map(exists));
  if (marks.includes(true)) return true;
  const groups = await readFile('/proc/1/cgroup', 'utf8').catch(() => '');
  return /docker|kubepods|containerd|libpod|lxc/.test(groups);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
