import { cpus } from 'node:os';

export function environment() {
  const [{ model }] = cpus();
  return `Node ${process.version}, V8 ${process.versions.v8}, ${cpus().length} x ${model.trim()}, ${process.platform}`;
}
