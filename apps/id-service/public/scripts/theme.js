// Runs before the first paint, so that a chosen theme does not flash.
try {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing follows the system.
}

/** The button that turns the dark theme on and off; until it is used the system decides. */
export function themeSwitch() {
  const button = document.getElementById('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const show = () => button.setAttribute('aria-pressed', String(isDark()));

  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem('theme', theme);
    } catch {
      // Then it lasts as long as the page.
    }
    show();
  });
  system.addEventListener('change', show);
  show();
}
