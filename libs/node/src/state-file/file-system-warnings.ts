import { statfs } from 'node:fs/promises';

/** File systems on Linux by their magic numbers, and what to know of them. */
const KNOWN: Readonly<Record<number, string>> = {
  0x01021994: 'stateFile is volatile: it is on a tmpfs, which a restart of the machine empties; take a disk',
  0x858458f6: 'stateFile is volatile: it is on a ramfs, which a restart of the machine empties; take a disk',
  0x794c7630:
    "stateFile is volatile: it is in a container's own layer, which goes with the container; take a mounted volume",
  0x6969: 'stateFile is remote: on NFS a rename may be reported as failed although it was made; take a local disk',
};

/** What can lose the state, or hide it, where the path is; empty when nothing is known against it. */
export async function fileSystemWarnings(path: string): Promise<readonly string[]> {
  const { type } = await statfs(path);
  const warning = KNOWN[type >>> 0];
  return warning === undefined ? [] : [warning];
}
