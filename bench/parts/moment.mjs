/** Whether everything runs for a moment only, to see that it does (`npm run bench -- --moment`): its figures mean nothing. */
const isMoment = process.env.RAINDROP_BENCH_MOMENT === 'true';

/** Makes this process, and those that it starts, measure for a moment. Before anything is imported that measures. */
export function measureForAMoment() {
  process.env.RAINDROP_BENCH_MOMENT = 'true';
}

/** How long or how often something is measured: as it is needed for a figure, or for a moment. */
export function orMoment(usual, moment) {
  return isMoment ? moment : usual;
}
