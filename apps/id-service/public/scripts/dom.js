/**
 * A new element.
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children texts stay texts: nothing is read as HTML
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The same in an SVG. */
export function svgElement(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Sets a text only when it differs: a live region that is set again is read again. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

export const byId = (id) => document.getElementById(id);

const TOLD_MS = 2_000;

/**
 * A button that copies a text, and says so for a moment.
 * @param {() => string} textOf what is copied
 */
export function copyButton(label, textOf, attributes = {}) {
  const button = element('button', { type: 'button', class: 'small', ...attributes }, label);
  onCopy(button, textOf);
  return button;
}

/** Makes a button that is there copy; a browser that forbids it says so. */
export function onCopy(button, textOf, { told = 'Copied', otherwise = () => 'Not allowed' } = {}) {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    setText(button, (await copyText(textOf())) ? told : otherwise());
    setTimeout(() => setText(button, label), TOLD_MS);
  });
}

/**
 * Makes a button that shows a value and copies it.
 * @returns a function that shows another value: its name, what is copied, and what is shown where that differs
 */
export function valueButton(button) {
  const shown = element('span', { class: 'value-text' });
  const hint = element('span', { class: 'value-hint', 'aria-hidden': 'true' }, 'Copy');
  let name = '';
  let text = '';
  const purpose = element('span', { class: 'unseen' });
  button.replaceChildren(purpose, shown, hint);
  button.addEventListener('click', async () => {
    const isCopied = await copyText(text);
    button.classList.add('told');
    setText(hint, isCopied ? 'Copied' : 'Not allowed');
    setText(byId('copied'), isCopied ? `${name} copied.` : 'The browser does not allow copying.');
    setTimeout(() => {
      button.classList.remove('told');
      setText(hint, 'Copy');
      setText(byId('copied'), '');
    }, TOLD_MS);
  });
  return (newName, newText, ...parts) => {
    [name, text] = [newName, newText];
    setText(purpose, `Copy ${name}: `);
    shown.replaceChildren(...(parts.length > 0 ? parts : [text]));
  };
}

/** Tells whether the browser has copied. Over plain HTTP it offers the old command only, which copies a selection. */
async function copyText(text) {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
    const focused = document.activeElement;
    const area = element('textarea', { class: 'unseen', 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    focused?.focus();
    return isCopied;
  } catch {
    return false;
  }
}

/** Has the browser store a text as a file. */
export function downloadText(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

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
