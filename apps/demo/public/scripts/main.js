import { idReader } from './id-reader.js';
import { idTaker } from './id-taker.js';
import { layoutPlanner } from './layout-planner.js';
import { rateChart } from './rate-chart.js';
import { ask } from './service.js';
import { showFacts } from './service-facts.js';
import { statusFeed } from './status-feed.js';
import { takeIds } from './take-ids.js';
import { themeSwitch } from './theme-switch.js';
import { workerTable } from './worker-table.js';

themeSwitch();
layoutPlanner();
const chart = rateChart();
const { apiKey } = workerTable();
const reader = idReader(apiKey);

const readAndGoThere = (id) => {
  reader.read(id);
  const input = document.getElementById('read-id');
  input.focus({ preventScroll: true });
  document.getElementById('read').scrollIntoView();
};
idTaker((count) => takeIds(count, apiKey()), readAndGoThere);

document.getElementById('read-new').addEventListener('click', async () => {
  try {
    const [id] = await takeIds(1, apiKey());
    reader.read(id);
  } catch (problem) {
    reader.refuse(problem.message);
  }
});

let presets;
statusFeed((status, atMs) => {
  reader.useLayout(status.layout);
  chart.add(status.issued, atMs);
  showFacts(status);
  // Asked for until they have come once.
  presets ??= ask('v1/presets').then(reader.usePresets, () => {
    presets = undefined;
  });
});
