import { byId, downloadText, element, onCopy, repeat, setText } from './dom.js';
import { takeBusinessNumber, takeIds, takeNumbers } from './service.js';
import { count } from './words.js';

const MOST = 10_000;
const SHOWN = 4;
const PAUSE_MS = 100;

/**
 * The form that gets IDs and numbers, once or again and again.
 * @param {() => string} apiKey
 * @param {(id: string) => void} onRead a person wants to see one of them
 */
export function idTaker(apiKey, onRead) {
  const amount = byId('take-count');
  const kind = byId('take-kind');
  const on = byId('take-on');
  const list = byId('take-list');
  let total = 0;
  let isOn = false;
  let last = [];

  const wanted = () => {
    const number = Number(amount.value);
    const isRight = amount.value !== '' && Number.isInteger(number) && number >= 1 && number <= MOST;
    amount.setAttribute('aria-invalid', String(!isRight));
    setText(byId('take-problem'), isRight ? '' : `Enter a whole number from 1 to ${count(MOST)}.`);
    return isRight ? number : undefined;
  };

  const asked = (number) => {
    const [what, name] = kind.value.split(' ');
    if (what === 'numbers') return takeNumbers(number, apiKey(), name);
    if (what === 'business') return takeBusinessNumber(apiKey(), name);
    return takeIds(number, apiKey(), { format: byId('take-format').value, code: byId('take-code').value.trim() });
  };

  const take = async () => {
    const number = wanted();
    if (number === undefined) return false;
    const begin = performance.now();
    try {
      const ids = await asked(number);
      last = ids;
      show(ids);
      total += ids.length;
      return { number: ids.length, ms: performance.now() - begin };
    } catch (problem) {
      setText(byId('take-problem'), problem.message);
      return false;
    }
  };

  const show = (ids) => {
    for (const id of ['take-copy', 'take-save']) byId(id).hidden = false;
    // An ID that has the focus stays.
    if (list.contains(document.activeElement)) return;
    const isRead = kind.value === 'ids';
    const items = ids.slice(0, SHOWN).map((id) => {
      if (!isRead) return element('li', { class: 'id' }, id);
      const button = element('button', { type: 'button', class: 'id-link', 'aria-label': `Decode ${id}` }, id);
      button.addEventListener('click', () => onRead(id));
      return element('li', {}, button);
    });
    if (ids.length > SHOWN) items.push(element('li', { class: 'rest' }, `and ${count(ids.length - SHOWN)} more`));
    list.replaceChildren(...items);
  };

  const loop = repeat(async () => {
    if (!(await take())) stop();
  }, PAUSE_MS);

  const stop = () => {
    loop.stop();
    isOn = false;
    setText(on, 'Repeat');
    setText(byId('take-said'), `${count(total)} ${noun(total)} issued.`);
  };

  const noun = (number) => {
    const word = kind.value === 'ids' ? 'ID' : 'number';
    return number === 1 ? word : `${word}s`;
  };

  byId('take-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const taken = await take();
    if (!taken) return;
    const ms = taken.ms.toFixed(0);
    setText(byId('take-said'), `${count(taken.number)} ${noun(taken.number)} in ${ms} ms, round trip.`);
  });
  kind.addEventListener('change', () => {
    const isIds = kind.value === 'ids';
    byId('take-format').disabled = !isIds;
    byId('take-code').disabled = !isIds;
    amount.disabled = kind.value.startsWith('business');
  });
  onCopy(byId('take-copy'), () => last.join('\n'));
  byId('take-save').addEventListener('click', () => downloadText('ids.txt', 'text/plain', `${last.join('\n')}\n`));
  amount.addEventListener('input', wanted);
  on.addEventListener('click', () => {
    if (isOn) return stop();
    total = 0;
    isOn = true;
    setText(on, 'Stop');
    setText(byId('take-said'), 'Repeats until you stop it.');
    loop.start();
  });
}
