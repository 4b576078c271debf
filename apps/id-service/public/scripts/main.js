import { idReader } from './id-reader.js';
import { idTaker } from './id-taker.js';
import { layoutPlanner } from './layout-planner.js';
import { followAddress } from './permalink.js';
import { rateChart } from './rate-chart.js';
import { takeIds } from './service.js';
import { showEvents, showFacts, statusFeed } from './status.js';
import { themeSwitch } from './theme.js';
import { workerTable } from './worker-table.js';

/** Starts the page, once its elements are there. */
export function main() {
  themeSwitch();
  const planner = layoutPlanner();
  const chart = rateChart();
  const { apiKey, useStatus } = workerTable();
  const reader = idReader(apiKey);

  const readAndGoThere = (id) => {
    reader.read(id);
    const input = document.getElementById('read-id');
    input.focus({ preventScroll: true });
    document.getElementById('read').scrollIntoView();
  };
  idTaker(apiKey, readAndGoThere);

  const readNew = async () => {
    const [id] = await takeIds(1, apiKey());
    reader.read(id);
  };
  // Whoever has typed meanwhile keeps what he typed.
  const readFirst = async () => {
    const [id] = await takeIds(1, apiKey());
    if (reader.isEmpty()) reader.read(id);
  };
  document
    .getElementById('read-new')
    .addEventListener('click', () => readNew().catch((problem) => reader.refuse(problem.message)));

  followAddress(({ id, as, plan }) => {
    if (id !== '') reader.read(id, as);
    if (plan !== '') planner.use(plan);
  });

  let isFirst = true;
  statusFeed((status, atMs) => {
    reader.useLayout(status.layout);
    chart.add(status.issued, atMs);
    showFacts(status);
    showEvents(status.events);
    useStatus(status);
    // So that there is something to see. Where it wants a key, the fields alone are.
    if (isFirst && reader.isEmpty()) readFirst().catch(() => {});
    isFirst = false;
  });
}
