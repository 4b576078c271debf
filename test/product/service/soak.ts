/** `node --require ./test/typescript-hook.cjs test/product/service/soak.ts [seconds]`: the service under fire, for longer. */
import { fireAtServiceAlone, type FireReport } from './fire-at-service.js';

const MINUTE_S = 60;

async function soak(): Promise<void> {
  const seconds = Number(process.argv[2] ?? MINUTE_S);
  if (!Number.isInteger(seconds) || seconds < 10 || seconds > 3_600) {
    throw new Error('how many seconds? An integer from 10 to 3600');
  }
  const report = await fireAtServiceAlone({
    seconds: [seconds * 0.3, seconds * 0.2, seconds * 0.5],
    leaseMs: MINUTE_S * 1_000,
    until: 'served',
  });
  console.log(JSON.stringify({ ...report, repeated: report.repeated.map(String) }, undefined, 2));
  const problem = problemIn(report);
  if (problem === undefined) return;
  console.error(problem);
  process.exitCode = 1;
}

function problemIn({ answers, errors, repeated }: FireReport): string | undefined {
  if (repeated.length > 0) return `IDs came twice: ${repeated.join(', ')}`;
  if (errors > 0) return `${errors} requests had no answer`;
  const wrong = Object.keys(answers).filter((name) => !/^(201|503 [A-Z_]+)$/.test(name));
  return wrong.length > 0 ? `answers that must not be: ${wrong.join(', ')}` : undefined;
}

void soak().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
