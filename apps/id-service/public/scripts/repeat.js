/**
 * Does something again and again, a while after each end, as long as the page can be seen.
 * @param {() => Promise<number | void>} work does not reject; may say how long to pause this time, ms
 * @returns {{ start(): void, stop(): void }} both may be called at any time
 */
export function repeat(work, pauseMs) {
  let on = false;
  let busy = false;
  let timer;
  const turn = async () => {
    clearTimeout(timer);
    if (!on || busy || document.hidden) return;
    busy = true;
    const pause = (await work()) ?? pauseMs;
    busy = false;
    if (on) timer = setTimeout(turn, pause);
  };
  document.addEventListener('visibilitychange', turn);
  return {
    start: () => {
      on = true;
      void turn();
    },
    stop: () => {
      on = false;
      clearTimeout(timer);
    },
  };
}
