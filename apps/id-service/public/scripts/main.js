import { byId, valueButton } from './dom.js';
import { idReader } from './id-reader.js';
import { idTaker } from './id-taker.js';
import { layoutPlanner } from './layout-planner.js';
import { followAddress } from './permalink.js';
import { rateChart } from './rate-chart.js';
import { takeIds } from './service.js';
import { forgetFacts, showEvents, showFacts, statusFeed } from './status.js';
import { themeSwitch } from './theme.js';
import { workerTable } from './worker-table.js';

/** Starts the page, once its elements are there. */
export function main() {
  themeSwitch();
  const command = byId('install').textContent.trim();
  valueButton(byId('install'))('the command', command);
  const planner = layoutPlanner();
  const chart = rateChart();
  const { apiKey, useStatus, forgetWorkers } = workerTable();
  const reader = idReader(apiKey);

  const readAndGoThere = (id) => {
    reader.read(id);
    byId('read-id').focus({ preventScroll: true });
    byId('read').scrollIntoView();
  };
  idTaker(apiKey, readAndGoThere);

  byId('read-new').addEventListener('click', async () => {
    try {
      const [id] = await takeIds(1, apiKey());
      reader.read(id);
    } catch (problem) {
      reader.refuse(problem.message);
    }
  });

  followAddress(({ id, as, plan }) => {
    if (id !== '') reader.read(id, as);
    if (plan !== '') planner.use(plan);
  });

  const onStatus = (status, atMs) => {
    reader.useLayout(status.layout);
    chart.add(status.issued, atMs);
    showFacts(status);
    showEvents(status.events);
    useStatus(status);
  };
  const onAway = () => {
    reader.forgetService();
    forgetWorkers();
    forgetFacts();
  };
  statusFeed(onStatus, { onUnknown: chart.addGap, onAway, onBack: reader.confirmAgain });
}
