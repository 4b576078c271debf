import { onCopy } from './dom.js';

/** What the address names: `#id=...&as=...`, `#plan=...`. */
export function readAddress() {
  const named = new URLSearchParams(location.hash.slice(1));
  return { id: named.get('id') ?? '', as: named.get('as') ?? '', plan: named.get('plan') ?? '' };
}

/** Changes the address to what is seen, without a step to go back. */
export function writeAddress(parts) {
  history.replaceState(null, '', addressOf(parts));
}

/** Makes a button copy the link to what is seen. */
export function shareButton(button, partsOf) {
  onCopy(button, () => String(new URL(addressOf(partsOf()), location.href)), { told: 'Link copied' });
}

function addressOf(parts) {
  const query = new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== ''));
  return query.size === 0 ? location.pathname : `#${String(query).replaceAll('%2C', ',')}`;
}

/** @param {(address: ReturnType<typeof readAddress>) => void} onChange now, and when somebody follows another link */
export function followAddress(onChange) {
  onChange(readAddress());
  addEventListener('hashchange', () => onChange(readAddress()));
}
